/** A command that waits for input is told, soon and with its question; one that only takes its time never is. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { openShell, type RunResult, type Shell } from "../../src/node.ts";
import { temporaryFolder } from "../reference.ts";
import { brief, Chance, Listener, open, output, refusal, until } from "../support.ts";

/** What a person expects at most between a question and its being told. */
const SOON_MS = 1_000;

/** A run that may come back waiting, and how long after its last output it did. */
async function follow(
  shell: Shell,
  command: string,
): Promise<{ readonly run: RunResult; readonly afterMs: number }> {
  let lastAt = performance.now();
  const run = await shell.run(command, {
    timeoutMs: 20_000,
    onOutput: () => {
      lastAt = performance.now();
    },
  });
  return { run, afterMs: performance.now() - lastAt };
}

/** A program that asks, what it shows then, and how it is answered until it ends. */
interface Asking {
  readonly command: string;
  readonly program: string;
  readonly shows: RegExp;
  readonly password?: boolean;
  /** Text, or keys by their names. */
  readonly answers: readonly (string | readonly string[])[];
  readonly rest: RegExp;
}

const ASKING: readonly Asking[] = [
  { command: "cat", program: "cat", shows: /^$/, answers: ["abc\n", ["C-d"]], rest: /abc\nabc$/ },
  {
    command: "cat | tr a-z A-Z",
    program: "cat",
    shows: /^$/,
    answers: ["abc\n", ["C-d"]],
    rest: /ABC$/,
  },
  {
    command: "echo before; sort",
    program: "sort",
    shows: /^before$/,
    answers: ["b\na\n", ["C-d"]],
    rest: /a\nb$/,
  },
  {
    command: 'read x; echo "<$x>"',
    program: "bash",
    shows: /^$/,
    answers: ["one two\n"],
    rest: /<one two>$/,
  },
  {
    command: 'read -p "name? " x; echo "<$x>"',
    program: "bash",
    shows: /^name\? $/,
    answers: ["Ada\n"],
    rest: /<Ada>$/,
  },
  {
    command: 'read -e -p "line: " x; echo "<$x>"',
    program: "bash",
    shows: /line: $/,
    answers: ["abc\n"],
    rest: /<abc>$/,
  },
  {
    command: 'read -n 1 -p "key " x; echo "<$x>"',
    program: "bash",
    shows: /^key $/,
    answers: ["k"],
    rest: /<k>$/,
  },
  {
    command: 'read -t 60 -p "soon? " x; echo "<$x>"',
    program: "bash",
    shows: /^soon\? $/,
    answers: ["y\n"],
    rest: /<y>$/,
  },
  {
    command: 'read -s -p "pw: " p; echo "<$p>"',
    program: "bash",
    password: true,
    shows: /^pw: $/,
    answers: ["secret\n"],
    rest: /^<secret>$/,
  },
  {
    command: 'bash -c \'read -s -p "pw: " p; echo "<$p>"\'',
    program: "bash",
    password: true,
    shows: /^pw: $/,
    answers: ["secret\n"],
    rest: /^<secret>$/,
  },
  {
    command: 'sh -c \'printf "q "; read x; echo "<$x>"\'',
    program: "sh",
    shows: /^q $/,
    answers: ["a\n"],
    rest: /<a>$/,
  },
  {
    command: 'select x in one two; do echo "<$x>"; break; done',
    program: "bash",
    shows: /1\) one\n2\) two\n#\? $/,
    answers: ["2\n"],
    rest: /<two>$/,
  },
  {
    command: "touch f; rm -i f; ls",
    program: "rm",
    shows: /remove regular empty file 'f'\? $/,
    answers: ["y\n"],
    rest: /^y$/,
  },
  {
    command: 'python3 -c \'print("<" + input("name? ") + ">")\'',
    program: "python3",
    shows: /^name\? $/,
    answers: ["Ada\n"],
    rest: /<Ada>$/,
  },
  {
    command: "python3 -c 'import getpass; print(len(getpass.getpass()))'",
    program: "python3",
    password: true,
    shows: /^Password: $/,
    answers: ["four\n"],
    rest: /^\n4$/,
  },
  {
    command: "python3 -q",
    program: "python3",
    shows: /^>>> $/,
    answers: ["6 * 7\n", ["C-d"]],
    rest: /42/,
  },
  {
    command: "python3 -c 'import sys; print(len(sys.stdin.read()))'",
    program: "python3",
    shows: /^$/,
    answers: ["abc\n", ["C-d"]],
    rest: /4$/,
  },
  {
    command: "seq 200 >f; LESS= less f",
    program: "less",
    shows: /1\n2\n3\n[\s\S]*39/,
    answers: ["q"],
    rest: /^/,
  },
  {
    command: "seq 200 | LESS= less",
    program: "less",
    shows: /1\n2\n3\n[\s\S]*39/,
    answers: ["q"],
    rest: /^/,
  },
  {
    command: "vim -u NONE -N f; cat f",
    program: "vim",
    shows: /~/,
    answers: ["iabc", ["Escape"], ":wq\n"],
    rest: /abc$/,
  },
  { command: "nano f", program: "nano", shows: /GNU nano/, answers: [["C-x"]], rest: /^/ },
  {
    command: "ssh-keygen -t ed25519",
    program: "ssh-keygen",
    shows: /Enter file in which to save the key .*: $/,
    answers: ["./key\n", "pass\n", "pass\n"],
    rest: /The key fingerprint is/,
  },
  {
    command: "bash --noprofile --norc",
    program: "bash",
    shows: /bash-\S+[$#] $/,
    answers: ["echo $((6 * 7))\n", "exit\n"],
    rest: /42/,
  },
  {
    command: "sh -i",
    program: "sh",
    shows: /[$#] $/,
    answers: ["echo $((6 * 7))\n", "exit\n"],
    rest: /42/,
  },
  {
    command: 'sleep 0.5; for i in 1 2 3; do read -p "$i? " x; done; echo "<$x>"',
    program: "bash",
    shows: /^1\? $/,
    answers: ["a\n", "b\n", "c\n"],
    rest: /2\? b\n3\? c\n<c>$/,
  },
];

describe("told within a second, and answered", () => {
  test.each(ASKING)(
    "$command",
    async ({ command, program, shows, password = false, answers, rest }) => {
      const shell = await open();
      const { run, afterMs } = await follow(shell, command);
      const wait = { program, password };
      expect(run.end).toEqual({ kind: "waiting", ...wait });
      expect(run.output).toMatch(shows);
      expect(afterMs).toBeLessThan(SOON_MS);
      expect(shell.inFlight).toEqual({ command, over: false, waiting: wait });
      let all = "";
      let last = run;
      for (const answer of answers) {
        expect(last.end.kind, `before ${answer}`).toBe("waiting");
        await shell.write(typeof answer === "string" ? answer : { keys: [...answer] });
        last = await shell.wait();
        all += last.output;
      }
      expect(last.end).toMatchObject({ kind: "finished" });
      expect(all).toMatch(rest);
      expect(brief(await shell.run("echo next"))).toEqual(["next", 0]);
    },
  );

  test("the same by send, which tells who asks next", async () => {
    const shell = await open();
    const { run } = await follow(
      shell,
      "read -p 'a? ' a; python3 -c 'input(\"b? \")'; read -s -p 'c? ' c; echo \"<$a$c>\"",
    );
    expect(brief(run)).toEqual(["a? ", "waiting"]);
    expect(await shell.send("1\n")).toEqual({
      output: "1\nb? ",
      wait: "stdin_read",
      reader: { program: "python3", password: false },
    });
    expect(await shell.send("2\n")).toEqual({
      output: "2\nc? ",
      wait: "stdin_read",
      reader: { program: "bash", password: true },
    });
    const last = await shell.send("3\n");
    expect(last).toMatchObject({ reader: null });
    expect(last.output).toMatch(/^<13>/);
    const rest = await shell.wait();
    expect([rest.end, rest.output.endsWith("<13>")]).toEqual([
      { kind: "finished", exitCode: 0 },
      true,
    ]);
    expect(await output(shell, "echo next")).toBe("next");
  });

  test("a command that is answered in time is never told", async () => {
    const shell = await open();
    for (let i = 0; i < 10; i++) {
      const listener = new Listener();
      const running = shell.run(`read -p 'q? ' x; echo "<$x>"`, { onOutput: listener.onOutput });
      await listener.heard("q? ");
      await shell.write(`${i}\n`);
      expect(brief(await running)).toEqual([`q? ${i}\n<${i}>`, 0]);
    }
  });

  test("it is told again to whoever waits again, and time counts on", async () => {
    const shell = await open();
    const command = "read -p 'q? ' x";
    const first = await shell.run(command, { timeoutMs: 2_000 });
    expect(brief(first)).toEqual(["q? ", "waiting"]);
    expect(brief(await shell.wait())).toEqual(["", "waiting"]);
    await until("time is over", async () => (await shell.wait()).end.kind === "timedOut");
    expect(await output(shell, "echo next")).toBe("next");
  });

  test("waitMs and an abort end the waiting before", async () => {
    const shell = await open();
    expect(brief(await shell.run("read x", { waitMs: 20 }))).toEqual(["", "running"]);
    expect(brief(await shell.wait({ waitMs: 5_000 }))).toEqual(["", "waiting"]);
    const controller = new AbortController();
    const waiting = shell.wait({ signal: controller.signal });
    controller.abort();
    await refusal(waiting, "ABORTED");
    expect(await output(shell, "echo next")).toBe("next");
  });

  test("until it is answered, no other command is typed", async () => {
    const shell = await open();
    const { run } = await follow(shell, 'read -p "q? " x; read -t 1 y; echo "<$x|$y>"');
    expect(run.end).toMatchObject({ kind: "waiting", program: "bash" });
    for (let i = 0; i < 3; i++) await refusal(shell.run("echo no"), "BUSY");
    await shell.write("yes\n");
    const rest = await shell.wait();
    expect(brief(rest)).toEqual(["yes\n<yes|>", 0]);
    expect(brief(await shell.run('echo "$x"'))).toEqual(["yes", 0]);
  });

  test("an interrupt ends it", async () => {
    const shell = await open();
    expect((await shell.run("read x")).end.kind).toBe("waiting");
    await shell.interrupt();
    expect((await shell.wait()).end).toEqual({ kind: "interrupted", exitCode: 130 });
    expect((await shell.run("cat")).end).toMatchObject({ kind: "waiting", program: "cat" });
    await shell.write({ keys: ["C-c"] });
    expect((await shell.wait()).end).toEqual({ kind: "interrupted", exitCode: 130 });
    expect(await output(shell, "echo next")).toBe("next");
  });
});

const SERVER =
  "require('http').createServer((q, r) => r.end('x')).listen(0, () => console.log('up'))";

const BUSY: readonly string[] = [
  "sleep 3",
  "sleep 2 | wc -l",
  "(sleep 1; echo x) | cat",
  "while read l; do :; done < <(sleep 2)",
  "echo a >f; tail -f f",
  "tail -f /dev/null | cat",
  "cat <(sleep 2)",
  "mkfifo p; cat p",
  "mkfifo p; read x <p",
  "sleep 2 & wait",
  "sleep 2 & read -t 0.5 x; read -t 0.5 y; read -t 0.5 z; wait",
  "python3 -c 'import time; time.sleep(2)'",
  "python3 -c 'import threading, time; threading.Thread(target=lambda: time.sleep(2)).start(); input()' </dev/null",
  "python3 -c 'import threading, time; threading.Thread(target=time.sleep, args=(4,)).start(); input()'",
  'python3 -c \'import subprocess; subprocess.run(["sleep", "2"])\'',
  "python3 -c 'import select, sys; [select.select([sys.stdin], [], [], 0.2) for _ in range(12)]'",
  "python3 -c 'import select, socket, sys; s = socket.socket(); s.bind((\"127.0.0.1\", 0)); s.listen(); select.select([sys.stdin, s], [], [])'",
  `node -e "${SERVER}"`,
  `node -e "${SERVER}; process.stdin.setRawMode(true); process.stdin.resume(); process.stdin.on('data', () => {})"`,
  `node -e "setTimeout(() => {}, 2500)"`,
  "(printf '[sudo] password for u: ' >&2; sleep 2; echo ok)",
  "printf 'Password: '; sleep 2",
  "stty -echo; printf 'Password: '; sleep 2; stty echo",
  "read -p 'q? ' x < <(sleep 2; echo 1)",
  "for i in $(seq 40); do sleep 0.05; done",
  "for i in $(seq 200); do read -t 0.01 x; done",
  "(while sleep 0.05; do echo tick; done) & read x",
  "yes >/dev/null",
  "bash -c 'while :; do :; done'",
  "timeout 2 bash -c 'sleep 3'",
  "git --version; sleep 2",
  "top -b -d 1 -n 3",
];

describe.concurrent("never told", () => {
  test.each(BUSY)("%s", async (command) => {
    using place = temporaryFolder();
    await using shell = await openShell({ cwd: place.path });
    const run = await shell.run(command, { waitMs: 2_500 });
    expect(["running", "finished"]).toContain(run.end.kind);
  });

  test("a compiler", async () => {
    using place = temporaryFolder();
    const cwd = place.path;
    const program =
      '#include <regex>\n#include <iostream>\nint main() { std::cout << std::regex_match("ab", std::regex("a.")); }\n';
    writeFileSync(join(cwd, "a.cpp"), program);
    writeFileSync(join(cwd, "b.cpp"), program);
    writeFileSync(join(cwd, "Makefile"), "all: a b\n");
    await using shell = await openShell({ cwd });
    const run = await shell.run("make -j2 CXXFLAGS=-O2 && ./a", { timeoutMs: 60_000 });
    expect(run.end).toEqual({ kind: "finished", exitCode: 0 });
    expect(run.output).toMatch(/\n1$/);
  }, 60_000);
});

describe("a host that does much else", () => {
  /** Twice a second, a quarter of a second of timers one upon another: in that time no output is read. */
  function keepBusy(): void {
    const work = (): void => {
      for (const end = performance.now() + 40; performance.now() < end; );
    };
    const timer = setInterval(() => {
      for (let at = 0; at < 200; at += 30) setTimeout(work, at);
    }, 500);
    onTestFinished(() => clearInterval(timer));
  }

  test("hears an end before it takes the prompt for an interrupt", async () => {
    const shells = await Promise.all(Array.from({ length: 8 }, () => open()));
    keepBusy();
    const play = async (shell: Shell, at: number): Promise<void> => {
      for (let i = 0; i < 6; i++) {
        const run = await shell.run(`sleep 0.${1 + ((at + i) % 7)}${i}; echo ${at}`);
        expect(brief(run)).toEqual([`${at}`, 0]);
      }
    };
    await Promise.all(shells.map(play));
  });

  test("hears a question before it tells of it", async () => {
    const shells = await Promise.all(Array.from({ length: 8 }, () => open()));
    keepBusy();
    const play = async (shell: Shell, at: number): Promise<void> => {
      for (let i = 0; i < 4; i++) {
        const pause = `0.${1 + ((at + i) % 7)}${i}`;
        const asked = await shell.run(`sleep ${pause}; read -p 'q? ' x; echo "<$x>"`);
        expect(brief(asked)).toEqual(["q? ", "waiting"]);
        await shell.write(`${at}\n`);
        expect(brief(await shell.wait())).toEqual([`${at}\n<${at}>`, 0]);
      }
    };
    await Promise.all(shells.map(play));
  });
});

/** A part of a command: it asks, or takes its time. */
interface Piece {
  readonly command: string;
  /** What it prints before it asks, or all that it prints. */
  readonly prints: string;
  readonly asks?: {
    readonly program: string;
    readonly password: boolean;
    readonly answer: string;
    /** What appears then: the echo, and what is made of the answer. */
    readonly brings: string;
  };
}

/** A piece that asks question `i`. */
function asking(chance: Chance, i: number): Piece {
  const [question, word] = [`q${i}? `, `a${i}`];
  const asked = (
    command: string,
    program: string,
    made = `<${word}>`,
    password = false,
  ): Piece => ({
    command,
    prints: question,
    asks: {
      program,
      password,
      answer: made === `<${word}>` ? `${word}\n` : `${word}\n\x04`,
      brings: `${password ? "" : `${word}\n`}${made}\n`,
    },
  });
  return chance.pick([
    () => asked(`read -p '${question}' x; echo "<$x>"`, "bash"),
    () => asked(`read -t 30 -p '${question}' x; echo "<$x>"`, "bash"),
    () => asked(`bash -c 'read -s -p "${question}" x; echo "<$x>"'`, "bash", undefined, true),
    () => asked(`sh -c 'printf "${question}"; read x; echo "<$x>"'`, "sh"),
    () => asked(`python3 -c 'print("<" + input("${question}") + ">")'`, "python3"),
    () => asked(`printf '${question}'; head -n 1 | sed 's/.*/<&>/'`, "head"),
    () => asked(`printf '${question}'; cat | tr a-z A-Z`, "cat", word.toUpperCase()),
    () => asked(`(sleep 5 >/dev/null &); read -p '${question}' x; echo "<$x>"`, "bash"),
    () => asked(`{ sleep 0.3; read -p '${question}' x; echo "<$x>"; }`, "bash"),
  ])();
}

/** A piece that takes some tenths of a second and asks nothing. */
function busy(chance: Chance): Piece {
  const s = `0.${2 + chance.int(7)}`;
  const silent = [
    `sleep ${s}`,
    `sleep ${s} | cat`,
    `(sleep ${s}; sleep 0.1) | cat | cat`,
    `while read -r l; do :; done < <(sleep ${s})`,
    `cat <(sleep ${s})`,
    `timeout ${s} tail -f /dev/null`,
    `read -t ${s} x`,
    `(sleep ${s} & wait)`,
    `sh -c 'sleep ${s}' <&-`,
    `python3 -c 'import time; time.sleep(${s})'`,
    `python3 -c 'import select, sys; select.select([sys.stdin], [], [], ${s})'`,
    `python3 -c 'import subprocess; subprocess.run(["sleep", "${s}"])'`,
    `bash -c 'for ((i = 0; i < 60000; i++)); do :; done'`,
    `stty -echo; sleep ${s}; stty echo`,
  ];
  const telling = ["[sudo] password for u: ", "name? ", "$ ", ">>> "];
  if (chance.int(4) > 0) return { command: chance.pick(silent), prints: "" };
  const text = chance.pick(telling);
  return { command: `printf '${text}'; sleep ${s}; echo ok`, prints: `${text}ok\n` };
}

/** Plays pieces as one command, and answers what is asked. */
async function playMix(shell: Shell, pieces: readonly Piece[], at: string): Promise<void> {
  const command = pieces.map((piece) => piece.command).join("; ");
  let result = await shell.run(command, { waitMs: 8_000 });
  let due = "";
  for (const { prints, asks } of pieces) {
    due += prints;
    if (asks === undefined) continue;
    const { program, password, answer, brings } = asks;
    expect([result.output, result.end], at).toEqual([due, { kind: "waiting", program, password }]);
    await shell.write(answer);
    result = await shell.wait({ waitMs: 8_000 });
    due = brings;
  }
  expect([result.output, result.end.kind], at).toEqual([due.replace(/\n$/, ""), "finished"]);
}

test("of two hundred mixes of both, each question is told and nothing else (seeds 300 to 499)", async () => {
  const left = Array.from({ length: 200 }, (_, i) => 300 + i);
  const work = async (): Promise<void> => {
    await using shell = await openShell();
    for (let seed = left.shift(); seed !== undefined; seed = left.shift()) {
      const chance = new Chance(seed);
      const kinds = chance.shuffled([true, false, ...(chance.int(2) > 0 ? [true] : [false])]);
      const pieces = kinds.map((asks, i) => (asks ? asking(chance, i) : busy(chance)));
      const command = pieces.map((piece) => piece.command).join("; ");
      await playMix(shell, pieces, `seed ${seed}: ${command}`);
    }
  };
  const ends = Array.from({ length: 14 }, () =>
    work().catch((error: unknown) => {
      left.length = 0;
      throw error;
    }),
  );
  await Promise.allSettled(ends);
  await Promise.all(ends);
}, 60_000);

describe("what it costs", () => {
  /** CPU time of this process, in ms, while something goes on. */
  async function cpuMs(work: Promise<unknown>): Promise<number> {
    const before = process.cpuUsage();
    await work;
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  }

  /** What some seconds in a row cost, the cheapest first: the test runner has work of its own now and then. */
  async function secondsMs(count: number): Promise<number[]> {
    const seconds: number[] = [];
    for (let i = 0; i < count; i++) {
      seconds.push(await cpuMs(new Promise((resolve) => setTimeout(resolve, 1_000))));
    }
    return seconds.sort((a, b) => a - b);
  }

  test("a silent command that is waited for takes less than 2 % of a processor", async () => {
    const shell = await open();
    const running = shell.run("sleep 5");
    const [, , median] = await secondsMs(5);
    expect(median).toBeLessThan(20);
    expect(brief(await running)).toEqual(["", 0]);
  });

  test("a command that is left in flight takes next to nothing", async () => {
    const shell = await open();
    expect((await shell.run("sleep 300", { waitMs: 100 })).end.kind).toBe("running");
    expect((await secondsMs(3))[0]).toBeLessThan(5);
  });

  test("so does one that waits for input, once that is told", async () => {
    const shell = await open();
    expect((await shell.run("cat")).end.kind).toBe("waiting");
    expect((await secondsMs(3))[0]).toBeLessThan(5);
  });
});
