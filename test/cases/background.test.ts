/** Jobs that run beside commands: they hold nothing up, and what they print is delivered once. */

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { RunResult } from "../../src/node.ts";
import {
  bareBash,
  brief,
  Chance,
  folder,
  lives,
  open,
  output,
  outputs,
  until,
} from "../support.ts";

/** All that results brought, in order: late output came before the command's own. */
function all(results: readonly RunResult[]): string {
  return results.map((each) => `${each.background}\n${each.output}`).join("\n");
}

describe("jobs hold nothing up", () => {
  test.each([
    "sleep 300 & ",
    "sleep 300 </dev/null >/dev/null & ",
    "setsid sleep 3 & ",
    "nohup sleep 300 >/dev/null 2>&1 & disown; ",
    "(sleep 300 &); ",
    "sleep 300 | cat & ",
  ])("%s returns at once [BG-78]", async (job) => {
    const shell = await open();
    const run = await shell.run(`${job}echo ok`);
    expect(run.output).toMatch(/(^|\n)ok$/);
    expect(run.end).toEqual({ kind: "finished", exitCode: 0 });
    expect(run.durationMs).toBeLessThan(1000);
  });

  test("a ticking job does not keep a command [BG-79]", async () => {
    const shell = await open();
    const run = await shell.run("(while :; do echo tick; sleep 0.1; done) & sleep 0.5; echo fg");
    expect(run.output).toMatch(/(^|\n)fg$/);
    expect(run.durationMs).toBeGreaterThanOrEqual(500);
    expect(run.durationMs).toBeLessThan(1500);
  });

  test("a daemon's id comes at once, and it outlives the command [BG-81]", async () => {
    const cwd = folder();
    const shell = await open({ cwd });
    const program = "console.log(process.pid); setInterval(() => {}, 1e3)";
    const run = await shell.run(`setsid node -e '${program}' >log 2>&1 </dev/null & echo $!`);
    expect(run.output).toMatch(/(^|\n)\d+$/);
    expect(run.durationMs).toBeLessThan(1000);
    const log = (): string => readFileSync(join(cwd, "log"), { encoding: "utf8", flag: "a+" });
    await until("the daemon has begun", () => /\d+\n/.test(log()));
    expect(lives(Number(log()))).toBe(true);
    process.kill(Number(log()), "SIGKILL");
  });

  test("a job that ends is no part of what later commands print [BG-83]", async () => {
    const shell = await open();
    expect(await output(shell, "sleep 0.2 &")).toMatch(/^\[1\] \d+$/);
    const a = await shell.run("sleep 0.5; echo a");
    const b = await shell.run("echo b");
    // An interactive bash tells that a job is done after the next program that it has waited for.
    expect(a.output).toMatch(/^(\[1\]\+ +Done +sleep 0\.2\n)?a$/);
    expect(brief(b)).toEqual(["b", 0]);
    const notices = all([a, b, await shell.run("true")]).match(/\[1\][+ ]+Done +sleep 0.2/g);
    expect(notices).toHaveLength(1);
  });

  test("jobs can be listed, waited for and brought to the foreground [BG-83]", async () => {
    const shell = await open();
    await shell.run("sleep 1 &");
    expect(await output(shell, "jobs")).toMatch(/^\[1\]\+ +Running +sleep 1 &$/);
    expect(await output(shell, "fg")).toBe("sleep 1");
    await shell.run("(sleep 0.3; exit 6) &");
    await output(shell, "wait %1", 6);
  });
});

describe("late output", () => {
  test("comes with the next result, apart, and once [BG-79]", async () => {
    const cwd = folder();
    const shell = await open({ cwd });
    await shell.run("(until [ -e go ]; do sleep 0.01; done; echo late; touch done) &");
    writeFileSync(join(cwd, "go"), "");
    await until("the job has printed", () => existsSync(join(cwd, "done")));
    const results = [
      await shell.run("echo a"),
      await shell.run("echo b"),
      await shell.run("wait; echo c"),
    ];
    expect(results.map((each) => each.output.split("\n").at(-1))).toEqual(["a", "b", "c"]);
    expect(all(results).match(/^late$/gm)).toHaveLength(1);
    expect(results[0]?.output).toBe("a");
  });

  const shapes: [string, string, RegExp][] = [
    ["lines", 'echo "<$i>"', /<(\d+)>/g],
    [
      "text that looks like our own lines",
      "printf '{ \\\\__evsh_begin <%d>; } >/dev/null 2>&1 && \\n' $i",
      /begin <(\d+)>; \} >/g,
    ],
    ["single braces and backslashes", "printf '{<%d>\\\\ }\\n' $i", /\{<(\d+)>\\ \}/g],
    ["parts of lines", "printf '<%d>' $i", /<(\d+)>/g],
    ["coloured text", "printf '\\e[3%dm<%d>\\e[0m\\n' 1 $i", /<(\d+)>/g],
    ["prompt-like text", "printf '$ [1]+ <%d>\\n' $i", /\$ \[1\]\+ <(\d+)>/g],
  ];

  test.each(shapes)(
    "of a job that prints %s over 300 commands and more: each tick once, in order [BG-79]",
    async (_, print, tick) => {
      const cwd = folder();
      const shell = await open({ cwd });
      const results = [
        await shell.run(
          `(i=0; until [ -e stop ]; do ${print}; i=$((i+1)); sleep 0.002; done; echo $i >count) &`,
        ),
      ];
      const seen = (): number => [...all(results).matchAll(tick)].length;
      for (let i = 0; i < 300 || seen() < 25; i++) {
        results.push(await shell.run(`echo own${i}`));
        expect(results.at(-1)?.output).toContain(`own${i}`);
      }
      results.push(await shell.run("touch stop; wait"), await shell.run("true"));
      const count = Number(readFileSync(join(cwd, "count"), "utf8"));
      const ticks = [...all(results).matchAll(tick)].map((match) => Number(match[1]));
      expect(count).toBeGreaterThan(20);
      expect(ticks).toEqual(Array.from({ length: count }, (_, i) => i));
      expect(all(results)).not.toMatch(/__evsh_close|8133/);
    },
  );

  test.each([111, 112])(
    "with prompts and settings of any kind, none is lost or doubled (seed %i) [BG-79]",
    async (seed) => {
      const chance = new Chance(seed);
      const cwd = folder();
      const shell = await open({ cwd });
      const settings = [
        "true",
        "PS1='> '",
        "stty -echo",
        "stty echo",
        "sleep 0.01",
        "false",
        "echo 'long' {1..300}",
        "cat <<E\nx\nE",
        "printf 'no newline'",
      ];
      const results = [
        await shell.run(
          '(i=0; until [ -e stop ]; do echo "<$i>"; i=$((i+1)); sleep 0.003; done; echo $i >count) &',
        ),
      ];
      const used: string[] = [];
      for (let i = 0; i < 60; i++) {
        used.push(chance.pick(settings.filter((each) => !each.startsWith("PS1"))));
        results.push(await shell.run(used.at(-1) as string));
      }
      results.push(await shell.run("touch stop; wait"), await shell.run("true"));
      const count = Number(readFileSync(join(cwd, "count"), "utf8"));
      const ticks = [...all(results).matchAll(/<(\d+)>/g)].map((match) => Number(match[1]));
      expect(ticks, `seed ${seed}: ${used.join(" | ")}`).toEqual(
        Array.from({ length: count }, (_, i) => i),
      );
    },
  );

  test.each(["PS1='> '", "PS1='\\u@\\h:\\w\\$ '", "unset PS1", "PS0='zero'", "set -v", "set -x"])(
    "after %s it still comes, each line once [BG-79]",
    async (setting) => {
      const cwd = folder();
      const shell = await open({ cwd });
      await shell.run(setting);
      const job =
        '(exec 2>/dev/null; i=0; until [ -e stop ]; do echo "<$i>"; i=$((i+1)); sleep 0.03; done; echo $i >count) &';
      const results = [await shell.run(job)];
      for (let i = 0; i < 8; i++) {
        // Time passes without a command, as between the calls of a model.
        await new Promise((resolve) => setTimeout(resolve, 40 * (i % 4)));
        results.push(await shell.run("true"));
      }
      results.push(await shell.run("touch stop; wait"), await shell.run("true"));
      const count = Number(readFileSync(join(cwd, "count"), "utf8"));
      const ticks = [...all(results).matchAll(/<(\d+)>/g)].map((match) => Number(match[1]));
      expect(ticks).toEqual(Array.from({ length: count }, (_, i) => i));
      expect(all(results)).not.toMatch(/evsh|8133/);
    },
  );

  test("what PROMPT_COMMAND prints is not taken for it, and no line comes twice [BG-79]", async () => {
    const cwd = folder();
    const shell = await open({ cwd });
    await shell.run("PROMPT_COMMAND='printf pc'");
    const job =
      '(exec 2>/dev/null; i=0; until [ -e stop ]; do echo "<$i>"; i=$((i+1)); sleep 0.01; done; echo $i >count) &';
    const results = [await shell.run(job)];
    for (let i = 0; i < 30; i++) results.push(await shell.run("sleep 0.01"));
    results.push(await shell.run("touch stop; wait"), await shell.run("true"));
    const count = Number(readFileSync(join(cwd, "count"), "utf8"));
    const ticks = [...all(results).matchAll(/<(\d+)>/g)].map((match) => Number(match[1]));
    expect(ticks).toEqual([...new Set(ticks)].sort((a, b) => a - b));
    // Some may have come while PROMPT_COMMAND ran.
    expect(ticks.length).toBeGreaterThan(count / 2);
    expect(all(results)).not.toContain("pc");
  });

  test("that is too much is bounded, and says how much is gone [BG-79]", async () => {
    const cwd = folder();
    const shell = await open({ cwd });
    await shell.run("(until [ -e go ]; do sleep 0.01; done; seq 1 100000; touch done) &");
    writeFileSync(join(cwd, "go"), "");
    await until("the job has printed", () => existsSync(join(cwd, "done")));
    const first = await shell.run("echo own");
    expect(first.output).toMatch(/(^|\n)own$/);
    expect(first.background.length).toBeLessThan(17_000);
    const gone = /^\[… (\d+) characters left out …\]\n/.exec(first.background);
    const rest = first.background.slice(gone?.[0].length ?? 0);
    expect(rest).toMatch(/\n100000(\n|$)/);
    const whole = Array.from({ length: 100_000 }, (_, i) => `${i + 1}\n`).join("").length;
    const shown = rest.slice(0, rest.lastIndexOf("100000") + 7).length;
    expect(Math.abs(Number(gone?.[1]) + shown - whole)).toBeLessThanOrEqual(1);
    expect((await shell.run("true")).background).not.toContain("99999");
  });

  test("during a command it is in the command's output, where it came [BG-79]", async () => {
    const shell = await open();
    const run = await shell.run("(sleep 0.1; echo late) & echo a; sleep 0.4; echo b");
    expect(run.output).toMatch(/^\[1\] \d+\na\nlate\n(\[1\]\+ +Done .*\n)?b$/);
  });

  test("of an earlier shell does not come with a later one's result [BG-79]", async () => {
    const shell = await open();
    await shell.run("(while :; do echo tick; sleep 0.01; done) &");
    await shell.run("exit");
    const run = await shell.run("echo fresh");
    expect(brief(run)).toEqual(["fresh", 0]);
    expect(run.background).toBe("");
  });
});

describe("calls side by side", () => {
  test("each gets its own lines, in the order of the calls [PAR-190]", async () => {
    const shell = await open();
    const runs = Array.from({ length: 20 }, (_, i) =>
      shell.run(`echo a${i}; sleep 0.02; echo b${i}`),
    );
    expect((await Promise.all(runs)).map(brief)).toEqual(runs.map((_, i) => [`a${i}\nb${i}`, 0]));
  });

  test("all of them work on one state [PAR-191]", async () => {
    const shell = await open();
    await Promise.all([shell.run("export A=1"), shell.run("export B=2")]);
    expect(await output(shell, "echo $A$B")).toBe("12");
  });

  test("those behind one that ends the shell run in a fresh one [PAR-190]", async () => {
    const shell = await open();
    const runs = await Promise.all([
      shell.run("echo a"),
      shell.run("exit 3"),
      shell.run("echo b"),
      shell.run("kill -9 $$"),
      shell.run("echo c"),
    ]);
    expect(runs.map(brief)).toEqual([
      ["a", 0],
      ["", "shellExited"],
      ["b", 0],
      ["", "shellExited"],
      ["c", 0],
    ]);
  });

  test("shells side by side share nothing [PAR-190]", async () => {
    const shells = await Promise.all(Array.from({ length: 5 }, () => open()));
    const marks = await Promise.all(
      shells.map(async (shell, i) => {
        await shell.run(`mine=${i}; cd /; sleep 0.0${i}`);
        return output(shell, "echo $mine");
      }),
    );
    expect(marks).toEqual(["0", "1", "2", "3", "4"]);
    expect(new Set(shells.map((shell) => shell.pid)).size).toBe(5);
  });
});

describe("the working directory", () => {
  test("may be deleted under the shell [CWD-199]", async () => {
    const cwd = folder();
    const shell = await open({ cwd });
    await output(shell, `mkdir q; cd q; rmdir "$PWD"`);
    expect(await outputs(shell, "echo hi", "cd ..; pwd")).toEqual(["hi", cwd]);
  });

  test("is kept from command to command [CWD-200]", async () => {
    const shell = await open();
    const run = await shell.run("cd /");
    expect(run.cwd).toBe("/");
    expect(brief(await shell.run("pwd"))).toEqual(["/", 0]);
  });

  test("deleted with its parents is as in bash itself [CWD-202]", async () => {
    const cwd = folder();
    const shell = await open({ cwd });
    const command = "mkdir -p a/b; cd a/b; rm -rf ../../a; cd .. 2>/dev/null; echo $? $PWD";
    const bare = bareBash(command, cwd);
    expect(await output(shell, command)).toBe(bare.output.trimEnd());
    expect(await output(shell, `cd ${cwd}; echo back`)).toBe("back");
  });

  test("of a result is the one after the command, also when it failed or changed often [CWD-200]", async () => {
    const cwd = folder();
    const shell = await open({ cwd });
    expect((await shell.run("true")).cwd).toBe(cwd);
    expect((await shell.run("mkdir d; cd d; false")).cwd).toBe(`${cwd}/d`);
    expect((await shell.run("(cd /)")).cwd).toBe(`${cwd}/d`);
    expect((await shell.run("cd /nonexistent 2>/dev/null")).cwd).toBe(`${cwd}/d`);
    expect((await shell.run("cd /usr; cd bin; cd ..")).cwd).toBe("/usr");
    expect((await shell.run("pushd / >/dev/null")).cwd).toBe("/");
    expect((await shell.run("popd >/dev/null")).cwd).toBe("/usr");
  });

  test("is not taken from a variable that a command has set [CWD-200]", async () => {
    const cwd = folder();
    const shell = await open({ cwd });
    await shell.run("cd /usr; exit");
    expect((await shell.run("true")).cwd).toBe(cwd);
  });
});
