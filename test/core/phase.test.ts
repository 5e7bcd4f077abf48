import { describe, expect, test } from "vitest";
import { type Fact, type Phase, type PhaseEvent, step } from "../../src/core/phase.ts";

const PID = 100;

const phases = {
  settingUp: { at: "settingUp", id: null },
  settingUpAgain: { at: "settingUp", id: "a" },
  idle: { at: "idle", promptDue: false },
  promptDue: { at: "idle", promptDue: true },
  typed: { at: "typed", id: "a", promptDue: false },
  typedEarly: { at: "typed", id: "a", promptDue: true },
  begun: { at: "begun", id: "a" },
  running: { at: "running", id: "a" },
} as const satisfies Record<string, Phase>;

function end(id: string, bare = true): PhaseEvent {
  return { kind: "end", id, status: 0, bare, cwd: null };
}

const ready: PhaseEvent = { kind: "ready", pid: PID, promptLines: 1 };
const prompt: PhaseEvent = { kind: "prompt", pid: PID, status: 0 };
const promptStart: PhaseEvent = { kind: "promptStart", pid: PID };
const type: PhaseEvent = { kind: "type", id: "a" };
const begin: PhaseEvent = { kind: "begin", id: "a" };
const start: PhaseEvent = { kind: "start", id: "a" };

describe("a shell", () => {
  test.each<[string, Phase, PhaseEvent, Phase, Fact]>([
    ["becomes ready", phases.settingUp, ready, phases.promptDue, "ready"],
    ["shows its prompt", phases.promptDue, prompt, phases.idle, "prompted"],
    ["shows it again", phases.idle, prompt, phases.idle, "prompted"],
    ["shows a prompt before it is ready", phases.settingUp, prompt, phases.settingUp, null],
    ["is given a command", phases.idle, type, phases.typed, null],
    ["is given one before its prompt", phases.promptDue, type, phases.typedEarly, null],
    ["then shows the prompt", phases.typedEarly, prompt, phases.typed, "prompted"],
    ["shows it once more: not taken", phases.typed, prompt, phases.typed, "refused"],
    ["takes the command", phases.typed, begin, phases.begun, "begun"],
    ["takes one typed early", phases.typedEarly, begin, phases.begun, "begun"],
    ["starts it", phases.begun, start, phases.running, "started"],
    ["starts it without a begin", phases.typed, start, phases.running, "started"],
    ["starts its first copy after all", phases.settingUpAgain, start, phases.running, "started"],
    ["ends it", phases.running, end("a"), phases.promptDue, "ended"],
    ["ends it, not bare", phases.running, end("a", false), phases.promptDue, "ended"],
    ["begins its prompt", phases.promptDue, promptStart, phases.promptDue, "prompting"],
    ["begins it after the typing", phases.typedEarly, promptStart, phases.typedEarly, "prompting"],
    ["ends one that did not start", phases.begun, end("a"), phases.promptDue, "ended"],
    ["is interrupted", phases.running, prompt, phases.idle, "interrupted"],
    ["is interrupted before the start", phases.begun, prompt, phases.idle, "interrupted"],
    ["is set up again", phases.typed, { kind: "setUp" }, phases.settingUpAgain, null],
    ["is set up at its prompt", phases.idle, { kind: "setUp" }, phases.settingUp, null],
    [
      "is set up while a command runs",
      phases.running,
      { kind: "setUp" },
      phases.settingUpAgain,
      null,
    ],
    ["ends it after all", phases.settingUpAgain, end("a"), phases.settingUpAgain, "ended"],
    ["is given the command again", phases.promptDue, type, phases.typedEarly, null],
    ["is ready again", phases.settingUpAgain, ready, phases.promptDue, "ready"],
    ["takes the command after all", phases.settingUpAgain, begin, phases.begun, "begun"],
  ])("%s", (_, phase, event, next, fact) => {
    expect(step(phase, event, PID)).toEqual([next, fact]);
  });
});

describe("a mark says nothing", () => {
  test.each<[string, Phase, PhaseEvent]>([
    ["of an old command's begin", phases.typed, { kind: "begin", id: "old" }],
    ["of an old command's start", phases.begun, { kind: "start", id: "old" }],
    ["of an old command's end", phases.running, end("old")],
    ["of an end before the begin", phases.typed, end("a")],
    ["of a begin before it is ready", phases.settingUp, begin],
    ["of another command's begin in a set-up", phases.settingUpAgain, { kind: "begin", id: "b" }],
    ["of another command's end in a set-up", phases.settingUpAgain, end("b")],
    ["of being ready at the prompt", phases.idle, ready],
    ["of an end at the prompt", phases.idle, end("a")],
    ["of a start while it runs", phases.running, start],
    ["of a begin while it runs", phases.running, begin],
    ["of being ready while it runs", phases.running, ready],
    ["of the beginning of another's prompt", phases.idle, { kind: "promptStart", pid: 101 }],
    ["of another shell's prompt", phases.running, { kind: "prompt", pid: 101, status: 0 }],
  ])("%s", (_, phase, event) => {
    expect(step(phase, event, PID)).toEqual([phase, null]);
  });

  test("of a prompt while no process id is known", () => {
    expect(step(phases.running, prompt, null)).toEqual([phases.running, null]);
  });
});
