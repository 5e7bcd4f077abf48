/** The six tools for interactive work: they see every terminal of the calling owner, its shell included. */

import * as v from "valibot";
import type { Shell, SignalName, Terminal } from "../core/index.ts";
import { flag, text } from "../core/schemas.ts";
import type { Backends } from "./backends.ts";
import type { ResolvedToolsConfig } from "./config.ts";
import { type OwnedTerminals, SHELL_ID } from "./owned-terminals.ts";
import type { Owners } from "./owners.ts";
import { type PlainToolParts, plainTool } from "./plain-tool.ts";
import {
  joined,
  pageText,
  rowsOf,
  rowText,
  screenPage,
  scrollbackPage,
  waitText,
} from "./terminal-text.ts";
import { described, type Tool, type ToolContext, type ToolResult } from "./tool.ts";

/** Lines of one page, unless the call says so; and at most. */
const PAGE_LINES = 200;
const MAX_PAGE_LINES = 2_000;

/** How long the program of a new terminal is given to print what it prints at its start. */
const START_MS = 5_000;

const SIGNALS = ["INT", "TERM", "KILL", "TSTP", "HUP"] as const;

/** Makes the tools. */
export function terminalTools(
  owners: Owners<OwnedTerminals>,
  backends: Backends,
  config: ResolvedToolsConfig,
): Tool[] {
  return [
    tool(owners, {
      name: "terminal_open",
      description:
        "Opens an interactive terminal, beside the shell of the bash tool. Answers its id, and what was printed at its start.",
      parameters: v.object({
        type: v.optional(
          described(text, "The backend that it is opened on. Default: that of the bash tool."),
        ),
        name: v.optional(described(text, "What to call it.")),
        cwd: v.optional(described(text, "The directory to start in.")),
      }),
      result: v.object({ terminal_id: v.string(), output: v.string() }),
      async act(owned, { type = config.backendType, name = "", cwd }, context) {
        const backend = backends.get(type);
        const { env, cols, rows, keepDetached, scrub } = config.shell;
        const directory = cwd ?? (backend.isFar ? undefined : context.cwd);
        const { id, terminal } = await owned.add(type, name, () =>
          backend.openTerminal({
            ...(env !== undefined && { env }),
            ...(cols !== undefined && { cols }),
            ...(rows !== undefined && { rows }),
            ...(keepDetached !== undefined && { keepDetached }),
            ...(scrub !== undefined && { scrub }),
            ...(directory !== undefined && { cwd: directory }),
          }),
        );
        try {
          await terminal.send("", { waitMs: START_MS, ...signalOf(context) });
          owned.refuseIfClosed();
        } catch (error) {
          // Nobody would know of it.
          await terminal.close();
          owned.forget(id);
          throw error;
        }
        const output = terminal.scrollback().lines.join("\n").trimEnd();
        return { value: { terminal_id: id, output }, text: joined(`[terminal: ${id}]`, output) };
      },
    }),

    tool(owners, {
      name: "terminal_send",
      description:
        "Types into a terminal, and comes back when the program waits for input ([wait: stdin_read]), ends " +
        "([wait: session_exit]), is silent ([wait: inferred_idle]) or the time is over ([wait: timeout]). Without text " +
        `and keys it only waits. The terminal "${SHELL_ID}" is that of the bash tool, while a command of it runs.`,
      parameters: v.object({
        terminal_id: terminalId,
        text: v.optional(described(v.string("must be a string"), "Text to type.")),
        keys: v.optional(
          described(
            v.array(v.string("must be the name of a key"), "must be an array of names of keys"),
            "Keys to press after the text, by name: Enter, C-c, Up, Escape, F1, M-x.",
          ),
        ),
        submit: v.optional(
          described(flag, "Press Enter after the text. Default: true where there is text."),
        ),
        waitMs: v.optional(
          v.pipe(
            v.number("must be a number of milliseconds"),
            v.integer("must be a whole number of milliseconds"),
            v.minValue(1, "must be at least 1 ms"),
            v.maxValue(600_000, "must be at most 600 000 ms"),
            v.description("Come back after so many milliseconds in any case. Default 10 000."),
          ),
        ),
      }),
      result: v.object({
        output: v.string(),
        wait: v.picklist(["stdin_read", "inferred_idle", "timeout", "session_exit"]),
        reader: v.nullable(v.object({ program: v.string(), password: v.boolean() })),
      }),
      async act(owned, { terminal_id, text = "", keys = [], submit, waitMs }, context) {
        const enter = (submit ?? text !== "") ? ["Enter"] : [];
        const value = await targetOf(owned, terminal_id).send(
          { text, keys: [...enter, ...keys] },
          { ...(waitMs !== undefined && { waitMs }), ...signalOf(context) },
        );
        return { value, text: joined(value.output, waitText(value)) };
      },
    }),

    tool(owners, {
      name: "terminal_read",
      description:
        "Reads a terminal: its screen; or, with offset or count, lines of its scrollback, of which the last are those " +
        "of the screen.",
      readOnly: true,
      parameters: v.object({
        terminal_id: terminalId,
        offset: v.optional(
          count("The first line to read, from 1. Default: so that the last lines are read."),
        ),
        count: v.optional(
          count(`How many lines, at most ${MAX_PAGE_LINES}. Default ${PAGE_LINES}.`),
        ),
      }),
      result: v.object({
        lines: v.array(v.string()),
        first: v.number(),
        total: v.number(),
      }),
      async act(owned, { terminal_id, offset, count: wanted }) {
        const scrollback = targetOf(owned, terminal_id).scrollback();
        const page =
          offset === undefined && wanted === undefined
            ? screenPage(scrollback)
            : scrollbackPage(scrollback, offset, Math.min(wanted ?? PAGE_LINES, MAX_PAGE_LINES));
        return { value: page, text: pageText(page) };
      },
    }),

    tool(owners, {
      name: "terminal_signal",
      description: "Sends a signal to the foreground process group of a terminal.",
      parameters: v.object({
        terminal_id: terminalId,
        signal: v.pipe(
          v.string("must be a string"),
          v.description(`${SIGNALS.join(", ")}; with or without SIG.`),
          v.transform((given) => given.toUpperCase().replace(/^SIG/, "")),
          v.check(isSignal, `must be one of ${SIGNALS.join(", ")}, with or without SIG`),
        ),
      }),
      result: v.object({ sent: v.boolean() }),
      async act(owned, { terminal_id, signal }) {
        const sent = await targetOf(owned, terminal_id).signal(`SIG${signal}` as SignalName);
        const done = `[SIG${signal} was sent to the foreground process group]`;
        const not = `[SIG${signal} could not be sent: the terminal shows no process to signal]`;
        return { value: { sent }, text: sent ? done : not };
      },
    }),

    tool(owners, {
      name: "terminal_close",
      description: "Closes a terminal and ends everything that was started in it.",
      parameters: v.object({ terminal_id: terminalId }),
      result: v.object({ closed: v.string() }),
      async act(owned, { terminal_id }) {
        if (terminal_id === SHELL_ID && owned.shell !== null) await owned.resetShell();
        else await owned.remove(terminal_id);
        return { value: { closed: terminal_id }, text: `[closed: ${terminal_id}]` };
      },
    }),

    tool(owners, {
      name: "terminal_list",
      description: "Lists your terminals, a line each, the id first.",
      readOnly: true,
      parameters: v.object({}),
      result: v.object({
        terminals: v.array(
          v.object({
            terminal_id: v.string(),
            type: v.string(),
            name: v.string(),
            state: v.string(),
          }),
        ),
      }),
      async act(owned) {
        const terminals = rowsOf(owned, config.backendType);
        return {
          value: { terminals },
          text: terminals.map(rowText).join("\n") || "[no terminals]",
        };
      },
    }),
  ];
}

function isSignal(name: string): boolean {
  return SIGNALS.some((known) => known === name);
}

const terminalId = described(text, "The id of the terminal.");

function count(what: string): v.GenericSchema<number> {
  return v.pipe(
    v.number("must be a number of lines"),
    v.integer("must be a whole number"),
    v.minValue(1, "must be at least 1"),
    v.description(what),
  );
}

/** A tool for the terminals of its caller. */
function tool<Schema extends v.GenericSchema, Value extends object>(
  owners: Owners<OwnedTerminals>,
  {
    act,
    ...parts
  }: Omit<PlainToolParts<Schema, Value>, "act" | "admit" | "titleKey"> & {
    act(
      owned: OwnedTerminals,
      args: v.InferOutput<Schema>,
      context: ToolContext,
    ): Promise<ToolResult<Value>>;
  },
): Tool<Value> {
  return plainTool({
    ...parts,
    act: (args, context) =>
      owners.use(context.owner, parts.name, (owned) => act(owned, args, context)),
    admit: ({ owner }) => void owners.of(owner, parts.name),
    titleKey: "terminal_id",
  });
}

/** @throws {EvershellError} `NO_TERMINAL` */
function targetOf(owned: OwnedTerminals, id: string): Shell | Terminal {
  return id === SHELL_ID && owned.shell !== null ? owned.shell : owned.get(id).terminal;
}

function signalOf({ signal }: ToolContext): { signal?: AbortSignal } {
  return signal === undefined ? {} : { signal };
}
