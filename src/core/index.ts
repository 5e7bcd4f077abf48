/** The core of evershell: it knows no runtime. `openShellOn` joins it to one. */

export type { Input } from "./arguments.ts";
export type { RcFiles } from "./bash.ts";
export type { Keep } from "./clip.ts";
export { type ErrorCode, EvershellError } from "./errors.ts";
export type { Scrollback } from "./history.ts";
export type {
  RunOptions,
  SendOptions,
  ShellOptions,
  StopPolicy,
  TerminalOptions,
  WaitOptions,
} from "./options.ts";
export { openShellOn } from "./persistent-shell.ts";
export type {
  OpenPty,
  Pty,
  PtyExit,
  PtyRequest,
  PtyState,
  SignalName,
  TerminalModes,
  TerminalReader,
} from "./pty.ts";
export type { ClipInfo, InputWait, RunEnd, RunResult } from "./result.ts";
export type { Runtime } from "./runtime.ts";
export type { ScreenView } from "./screen.ts";
export type { SendResult, SendWait } from "./sending.ts";
export type { InFlight, Shell } from "./shell.ts";
export type { SpillFile, SpillStore } from "./spill.ts";
export type { OnOutput } from "./teller.ts";
export { openTerminalOn, type Terminal } from "./terminal.ts";
