/** The state machine of one shell: what each event means in each state. */

import type { Mark } from "./marks.ts";

/** Where the shell is. */
export type Phase =
  /** bash is starting, or being made ours again: it has not taken the command `id`, or seems to have lost it. */
  | { readonly at: "settingUp"; readonly id: string | null }
  /** At its prompt, or about to print it (`promptDue`). */
  | { readonly at: "idle"; readonly promptDue: boolean }
  /** The lines of a command have been typed. A prompt that is due belongs to the command before. */
  | { readonly at: "typed"; readonly id: string; readonly promptDue: boolean }
  /** The shell has read the command, and runs our words. */
  | { readonly at: "begun"; readonly id: string }
  /** The command runs. */
  | { readonly at: "running"; readonly id: string };

/** A mark from the shell, or a command that is typed into it. */
export type PhaseEvent =
  | Mark
  | { readonly kind: "type"; readonly id: string }
  | { readonly kind: "setUp" };

/** What an event tells about the shell. */
export type Fact =
  | "ready"
  | "begun"
  | "started"
  | "ended"
  /** The prompt is there without an end: the command was interrupted. */
  | "interrupted"
  /** A prompt begins, and is complete. */
  | "prompting"
  | "prompted"
  /** The prompt is there again and the command was not taken. */
  | "refused"
  | null;

/** @param pid the shell's process id; the prompt of another shell says nothing about ours */
export function step(phase: Phase, event: PhaseEvent, pid: number | null): [Phase, Fact] {
  switch (event.kind) {
    case "setUp":
      return [{ at: "settingUp", id: phase.at === "idle" ? null : phase.id }, null];
    case "ready":
      return phase.at === "settingUp" ? [{ at: "idle", promptDue: true }, "ready"] : [phase, null];
    case "type":
      return [
        { at: "typed", id: event.id, promptDue: phase.at === "idle" && phase.promptDue },
        null,
      ];
    case "begin":
      return isTaking(phase, event.id) ? [{ at: "begun", id: event.id }, "begun"] : [phase, null];
    case "start":
      return isTaking(phase, event.id)
        ? [{ at: "running", id: event.id }, "started"]
        : [phase, null];
    case "end":
      return ended(phase, event.id);
    case "promptStart":
      return [phase, event.pid === pid ? "prompting" : null];
    case "prompt":
      return event.pid === pid ? prompted(phase) : [phase, null];
  }
}

function ended(phase: Phase, id: string): [Phase, Fact] {
  if (phase.at === "idle" || phase.at === "typed" || phase.id !== id) return [phase, null];
  // The end that was on its way when the shell seemed to have lost the command.
  if (phase.at === "settingUp") return [phase, "ended"];
  return [{ at: "idle", promptDue: true }, "ended"];
}

/** Whether the shell may be taking the command; a slow one may take the first copy of it after all. */
function isTaking(phase: Phase, id: string): boolean {
  return phase.at !== "idle" && phase.at !== "running" && phase.id === id;
}

function prompted(phase: Phase): [Phase, Fact] {
  switch (phase.at) {
    case "settingUp":
      return [phase, null];
    case "idle":
      return [{ at: "idle", promptDue: false }, "prompted"];
    case "typed":
      return phase.promptDue ? [{ ...phase, promptDue: false }, "prompted"] : [phase, "refused"];
    case "begun":
    case "running":
      return [{ at: "idle", promptDue: false }, "interrupted"];
  }
}
