/** How calls look to a person: whatever is replayed, a card comes of it; and what the schemas of the tools say. */

import { describe, expect, test } from "vitest";
import { type Card, createTools, type Tool } from "../../src/node-tools.ts";
import { Chance, refusal } from "../support.ts";
import { type Agent, agent, finished, toolNamed } from "./support.ts";

/** Nothing is opened by these. */
const { bash, all } = createTools();

/** The cards of a call that is carried out. */
async function cards(
  one: Agent,
  name: string,
  args: object,
): Promise<{ call: Card; result: Card; text: string }> {
  const tool = toolNamed(one.tools, name);
  const result = await tool.execute(args, one.context);
  // A record that is replayed has been JSON.
  const replayed = JSON.parse(JSON.stringify(result)) as unknown;
  const card = tool.presentResult(args, result);
  expect(tool.presentResult(JSON.parse(JSON.stringify(args)), replayed)).toEqual(card);
  return { call: tool.presentCall(args), result: card, text: result.text };
}

describe("cards of bash", () => {
  test("the call shows the exact command", () => {
    for (const command of ["ls -la", "  a\n b\t\n", "echo '```'", ""]) {
      const card = { card: "terminal", title: command };
      expect(bash.presentCall({ command })).toEqual(card);
      expect(bash.presentCall({ command, waitMs: 5, timeoutMs: 9, restart: true })).toEqual(card);
    }
    for (const args of [{ wait: true }, { restart: true }, { waitMs: 5 }]) {
      expect(bash.presentCall(args)).toMatchObject({ card: "generic", title: expect.any(String) });
    }
  });

  test.each([
    ["echo hi; false", { output: "hi", exitCode: 1 }],
    ["true", { output: "", exitCode: 0 }],
    ["printf 'a  \\n\\n'", { output: "a  \n", exitCode: 0 }],
    [
      "echo '[Command finished with exit code 0]'; (exit 9)",
      {
        output: "[Command finished with exit code 0]",
        exitCode: 9,
      },
    ],
    [
      "echo '[shell killed by signal: SIGKILL]'",
      {
        output: "[shell killed by signal: SIGKILL]",
        exitCode: 0,
      },
    ],
    ["echo last; exit 3", { output: "last", exitCode: 3 }],
    ["kill -9 $$", { output: "", signal: "SIGKILL" }],
    ["printf 'name? '; read x", { output: "name? " }],
  ])("the result of %j has its output, and its status as data", async (command, fields) => {
    const { call, result } = await cards(agent(), "bash", { command });
    expect(call).toEqual({ card: "terminal", title: command });
    expect(result).toEqual({ card: "terminal", title: command, ...fields });
  });

  test("a command in flight, and one that timed out, have no status", async () => {
    const one = agent();
    const running = await cards(one, "bash", { command: "echo a; sleep 0.4; false", waitMs: 150 });
    expect(running.result).toEqual({
      card: "terminal",
      title: "echo a; sleep 0.4; false",
      output: "a",
    });
    // The command that was waited for is named, though the arguments do not have it.
    const waited = await cards(one, "bash", { wait: true });
    expect(waited.result).toEqual({
      card: "terminal",
      title: "echo a; sleep 0.4; false",
      output: "",
      exitCode: 1,
    });
    const late = await cards(one, "bash", { command: "sleep 60", timeoutMs: 100 });
    expect(late.result).toEqual({ card: "terminal", title: "sleep 60", output: "" });
  });

  test("a restart, an error and an old record have none either", async () => {
    const restart = await cards(agent(), "bash", { restart: true });
    expect(restart.result).toEqual({
      card: "generic",
      title: expect.any(String),
      content: [restart.text],
    });
    const error = await refusal(agent().bash({ wait: true }), "NOT_RUNNING");
    const failure = { error: { code: error.code, message: error.message } };
    expect(bash.presentResult({ wait: true }, failure)).toEqual({
      card: "generic",
      title: expect.any(String),
      content: [error.message],
    });
    const old = { text: `hi\n${finished(0)}` };
    expect(bash.presentResult({ command: "echo hi" }, old)).toEqual({
      card: "generic",
      title: expect.any(String),
      content: [old.text],
    });
  });
});

describe("cards of terminals", () => {
  test("show the terminal and what was answered, never what was typed", async () => {
    const one = agent();
    const opened = await cards(one, "terminal_open", {});
    expect(opened.result).toMatchObject({ card: "generic", content: [opened.text] });
    const args = { terminal_id: "terminal-1", text: "read -s x # hidden", keys: ["Q"] };
    const sent = await cards(one, "terminal_send", args);
    expect(JSON.stringify(sent.call)).toContain("terminal-1");
    expect(JSON.stringify(sent.call)).not.toMatch(/hidden|Q/);
    for (const name of ["terminal_read", "terminal_close"]) {
      const { call, result, text } = await cards(one, name, { terminal_id: "terminal-1" });
      expect(JSON.stringify(call)).toContain("terminal-1");
      expect(result).toMatchObject({ card: "generic", content: [text] });
    }
  });

  test("of an error tell it", () => {
    for (const tool of all) {
      const failure = { error: { code: "CLOSED", message: "why it failed" } };
      expect(tool.presentResult({}, failure), tool.name).toMatchObject({
        card: "generic",
        content: ["why it failed"],
      });
    }
  });
});

describe("cards of anything", () => {
  const NAMES = [
    ..."command wait restart waitMs timeoutMs terminal_id text keys submit signal offset count".split(
      " ",
    ),
    ..."value run earlier output end kind exitCode error message code title lines clip".split(" "),
    ..."__proto__ constructor toString length then toJSON".split(" "),
  ];
  const ATOMS = [
    null,
    true,
    false,
    0,
    -1,
    1.5,
    1e308,
    "",
    "x",
    "finished",
    "\0",
    "\ud800",
    "[Command",
  ];

  function anything(chance: Chance, depth: number): unknown {
    const kind = chance.int(depth > 0 ? 4 : 1);
    if (kind === 0) return chance.pick(ATOMS);
    if (kind === 1) return Array.from({ length: chance.int(4) }, () => anything(chance, depth - 1));
    const fields = Array.from({ length: chance.int(6) }, () => [
      chance.pick(NAMES),
      anything(chance, depth - 1),
    ]);
    // As it comes out of a record: with "__proto__" a field like any other.
    return JSON.parse(
      `{${fields.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`)}}`,
    );
  }

  function expectCard(card: Card, of: string): void {
    const text = (field: unknown): boolean => field === undefined || typeof field === "string";
    expect(["terminal", "generic"], of).toContain(card.card);
    if (card.card === "generic") {
      expect(typeof card.title, of).toBe("string");
      expect(
        (card.content ?? []).every((line) => typeof line === "string"),
        of,
      ).toBe(true);
    } else {
      expect([card.title, card.output, card.signal].every(text), of).toBe(true);
      expect(["undefined", "number"], of).toContain(typeof card.exitCode);
    }
    expect(JSON.parse(JSON.stringify(card)), of).toEqual(card);
  }

  test.each([1, 2, 3])("is made of malformed records, without a throw (seed %i)", (seed) => {
    const chance = new Chance(seed);
    for (let round = 0; round < 1_000; round++) {
      const [args, result] = [anything(chance, 3), anything(chance, 5)];
      const of = `round ${round} of seed ${seed}: ${JSON.stringify([args, result])}`;
      const before = JSON.stringify([args, result]);
      for (const tool of all) {
        expectCard(tool.presentCall(args), of);
        expectCard(tool.presentResult(args, result), of);
        expect(tool.presentResult(args, result), of).toEqual(tool.presentResult(args, result));
      }
      expect(JSON.stringify([args, result])).toBe(before);
    }
  });

  test.each([
    [undefined],
    [null],
    [Number.NaN],
    [() => "x"],
    [Symbol("x")],
    [10n],
    [new Map([["command", "x"]])],
    [Object.create(null)],
    [Object.freeze({ command: Object.freeze({}) })],
    [{ value: { run: { output: "x", end: { exitCode: "0", signal: 9 } } } }],
    [{ value: { run: { output: ["x"] } }, text: 5 }],
  ])("is made of what no record can have: %s", (odd) => {
    for (const tool of all) {
      expectCard(tool.presentCall(odd), tool.name);
      expectCard(tool.presentResult(odd, odd), tool.name);
    }
  });

  test("takes a status only from data of the right kind", () => {
    const run = {
      output: "[Command finished with exit code 0]",
      end: { exitCode: "0", signal: 9 },
    };
    expect(bash.presentResult({ command: "x" }, { value: { run }, text: "y" })).toEqual({
      card: "terminal",
      title: "x",
      output: run.output,
    });
  });
});

describe("schemas", () => {
  /** What a schema says against a value; the words that are not known here are told too. */
  function faults(schema: Record<string, unknown>, value: unknown, at = "value"): string[] {
    const found: string[] = [];
    const is: Record<string, boolean> = {
      object: typeof value === "object" && value !== null && !Array.isArray(value),
      array: Array.isArray(value),
      string: typeof value === "string",
      number: typeof value === "number",
      integer: Number.isInteger(value),
      boolean: typeof value === "boolean",
      null: value === null,
    };
    const size = Array.isArray(value) || typeof value === "string" ? value.length : Number(value);
    const fields = is.object ? (value as Record<string, unknown>) : {};
    for (const [word, rule] of Object.entries(schema)) {
      const rules = rule as Record<string, Record<string, unknown>>;
      const fails = {
        type: () => is[rule as string] !== true,
        enum: () => !(rule as unknown[]).includes(value),
        const: () => value !== rule,
        required: () => !(rule as string[]).every((name) => Object.hasOwn(fields, name)),
        minimum: () => size < (rule as number),
        maximum: () => size > (rule as number),
        minLength: () => size < (rule as number),
        pattern: () => !new RegExp(rule as string, "u").test(value as string),
        anyOf: () => Object.values(rules).every((each) => faults(each, value).length > 0),
        description: () => typeof rule !== "string" || rule === "",
        additionalProperties: () =>
          rule === false &&
          Object.keys(fields).some((name) => !Object.hasOwn(schema.properties as object, name)),
        properties: () => {
          for (const [name, each] of Object.entries(rules)) {
            if (Object.hasOwn(fields, name))
              found.push(...faults(each, fields[name], `${at}.${name}`));
          }
          return false;
        },
        items: () => {
          if (Array.isArray(value)) {
            for (const [index, item] of value.entries()) {
              found.push(...faults(rules as Record<string, unknown>, item, `${at}[${index}]`));
            }
          }
          return false;
        },
      }[word];
      if (fails === undefined) found.push(`${at}: the word ${word} is unknown`);
      else if (fails()) found.push(`${at}: ${word} ${JSON.stringify(rule)}`);
    }
    return found;
  }

  function schemasIn(schema: unknown): Record<string, unknown>[] {
    if (typeof schema !== "object" || schema === null) return [];
    const own = schema as Record<string, unknown>;
    return [own, ...Object.values(own).flatMap(schemasIn)];
  }

  test.each(all.map((tool): [string, Tool] => [tool.name, tool]))(
    "of %s are JSON Schemas of objects, with each argument described",
    (name, tool) => {
      expect(name).toMatch(/^[a-z_]{1,64}$/);
      expect(tool.description).not.toBe("");
      for (const schema of [tool.parameters, tool.result]) {
        expect(JSON.parse(JSON.stringify(schema))).toEqual(schema);
        expect(schema.type).toBe("object");
        const properties = Object.keys(schema.properties as object);
        expect(properties).toEqual(expect.arrayContaining(schema.required as string[]));
        // No reference leads out of it.
        for (const part of schemasIn(schema)) expect(part).not.toHaveProperty("$ref");
      }
      const described = Object.values(tool.parameters.properties as object);
      for (const each of described) expect(each).toHaveProperty("description");
    },
  );

  test("of bash name the arguments, none of which is required", () => {
    expect(Object.keys(bash.parameters.properties as object)).toEqual([
      "command",
      "timeoutMs",
      "waitMs",
      "wait",
      "restart",
    ]);
    expect(bash.parameters.required).toEqual([]);
    expect(all.map(({ name }) => name)).toEqual([
      "bash",
      ...["open", "send", "read", "signal", "close", "list"].map((each) => `terminal_${each}`),
    ]);
    expect(all.filter(({ readOnly }) => readOnly).map(({ name }) => name)).toEqual([
      "terminal_read",
      "terminal_list",
    ]);
  });

  test("hold for what is passed and what comes back", async () => {
    const one = agent({ maxOutputChars: 20 });
    const calls: [string, object][] = [
      ["bash", { command: "seq 1 100", timeoutMs: 5_000 }],
      ["bash", { command: "read x", waitMs: 5_000 }],
      ["terminal_send", { terminal_id: "shell", text: "a", submit: false, waitMs: 300 }],
      ["terminal_send", { terminal_id: "shell", keys: ["Enter"] }],
      ["bash", { command: "kill -9 $$" }],
      ["bash", { command: "sleep 60", waitMs: 50 }],
      ["terminal_signal", { terminal_id: "shell", signal: "INT" }],
      ["bash", { wait: true }],
      ["bash", { command: "sleep 60", timeoutMs: 50 }],
      ["bash", { restart: true }],
      ["terminal_open", { name: "mine", cwd: "/", type: "shell" }],
      ["terminal_read", { terminal_id: "terminal-1" }],
      ["terminal_read", { terminal_id: "terminal-1", offset: 1, count: 5 }],
      ["terminal_signal", { terminal_id: "terminal-1", signal: "SIGTSTP" }],
      ["terminal_list", {}],
      ["terminal_close", { terminal_id: "terminal-1" }],
    ];
    for (const [name, args] of calls) {
      const tool = toolNamed(one.tools, name);
      const what = `${name} ${JSON.stringify(args)}`;
      expect(faults(tool.parameters, args), what).toEqual([]);
      const { value } = await tool.execute(args, one.context);
      expect(faults(tool.result, value), what).toEqual([]);
      expect(JSON.parse(JSON.stringify(value)), what).toEqual(value);
    }
  });

  test("refuse what the tools refuse", () => {
    const { parameters } = bash;
    for (const args of [{ command: 5 }, { timeoutMs: 0 }, { waitMs: 1.5 }, { wait: "yes" }, 5]) {
      expect(faults(parameters, args), JSON.stringify(args)).not.toEqual([]);
    }
  });
});
