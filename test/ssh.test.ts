/** A bash that is reached through ssh is like one that is started here: the same commands give the same results. */

import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { openShell, type RunResult, type Shell, type ShellOptions } from "../src/node.ts";
import { processes } from "./processes-support.ts";
import { bash, temporaryFolder } from "./reference.ts";
import {
  brief,
  Chance,
  folder,
  Listener,
  lives,
  open,
  output,
  outputs,
  quoted,
  refusal,
  settled,
  until,
} from "./support.ts";
import { type SshBackend, Sshd } from "./support-sshd.ts";

/** Of the user over there: what an ordinary start-up file does, and worse. */
const home = temporaryFolder();
let sshd: Sshd;

beforeAll(async () => {
  sshd = await Sshd.start({ HOME: home.path });
});

afterAll(async () => {
  await sshd.stop();
  home[Symbol.dispose]();
});

/** A shell through ssh that is closed after the test; it starts in an empty folder unless told otherwise. */
function openFar(options: ShellOptions = {}, far: SshBackend = {}): Promise<Shell> {
  return open({ backend: sshd.backend(far), ...options });
}

/** Commands of one shell in order, with their outputs and statuses. */
type Session = readonly (readonly [command: string, output: string | RegExp, status: number])[];

/** The numbers from 1, a line each, as seq prints them. */
const lines = (count: number): string => Array.from({ length: count }, (_, i) => i + 1).join("\n");

/** What has to come out the same wherever the shell runs. */
const SESSIONS: Readonly<Record<string, Session>> = {
  "state from command to command": [
    ["a=1; export B='2 2'; f() { echo \"f $1\"; }; alias x='echo aliased'; cd /usr", "", 0],
    ['echo "$a $B"; f y; x z; pwd', "1 2 2\nf y\naliased z\n/usr", 0],
    ["shopt -s extglob; set -o pipefail; (exit 3) | true", "", 3],
    ["echo $?", "3", 0],
    ["echo a b", "a b", 0],
    ['echo "$_"', "b", 0],
    ["umask 027; umask", "0027", 0],
  ],
  "plain text": [
    [
      "printf 'a\\tb\\t\\tc\\n  lead\\ntrail   \\n\\t\\n\\nend \\t \\n'",
      "a\tb\t\tc\n  lead\ntrail   \n\t\n\nend \t ",
      0,
    ],
    ["printf %s 'no newline'", "no newline", 0],
    ["printf 'a\\n\\n'", "a\n", 0],
    ["printf '\\n\\n\\n'", "\n\n", 0],
    ["printf ' '", " ", 0],
    ["true", "", 0],
    ["printf '%0120d\\n%0240d\\n!' 0 0", `${"0".repeat(120)}\n${"0".repeat(240)}\n!`, 0],
    ["printf '%010000d|' 0", `${"0".repeat(10_000)}|`, 0],
    [
      "echo '漢字 ｶﾅ e\u0301 👩‍👩‍👧‍👦 🇩🇪 \u200b\ufeff x'",
      "漢字 ｶﾅ e\u0301 👩‍👩‍👧‍👦 🇩🇪 \u200b\ufeff x",
      0,
    ],
    ["printf 'Fran\\347ais \\xff\\n'", "Fran\ufffdais \ufffd", 0],
    ["printf '\\e[1;31mred\\e[0m\\a\\0 b\\r\\nc\\n'", "red b\nc", 0],
    ["printf '─%.0s' $(seq 500)", "─".repeat(500), 0],
  ],
  "painted text": [
    ["for i in 1 2 3; do printf '\\r%d of 3' $i; done; echo", "3 of 3", 0],
    ["printf 'one\\ntwo\\n\\e[2A1\\e[2B\\n'", /^1ne\ntwo\s*$/, 0],
    ["echo before; printf '\\e[?1049hfull\\e[?1049l'; echo after", "before\nafter", 0],
    ["printf 'abc\\b\\bX\\n'", "aXc", 0],
  ],
  "much output": [
    ["seq 200000", lines(200_000), 0],
    [
      "head -c 3000000 /dev/zero | tr '\\0' x | sha256sum",
      `${sha256("x".repeat(3_000_000))}  -`,
      0,
    ],
    ["yes 'y é 中' | head -n 5000; (exit 9)", Array(5000).fill("y é 中").join("\n"), 9],
    ["echo next", "next", 0],
  ],
  "long commands": [
    ...[255, 1023, 1024, 4095, 4096, 4097, 65_537].map(
      (length) => [`printf %s ${"k".repeat(length)}`, "k".repeat(length), 0] as const,
    ),
    [
      `sha256sum <<'END'\n${"0123456789 中 abcdef\n".repeat(50_000)}END`,
      `${sha256("0123456789 中 abcdef\n".repeat(50_000))}  -`,
      0,
    ],
    [
      Array.from({ length: 120 }, (_, i) => `echo 'L${i} ${"a".repeat(50)}'`).join("\n"),
      Array.from({ length: 120 }, (_, i) => `L${i} ${"a".repeat(50)}`).join("\n"),
      0,
    ],
  ],
  "here-documents": [
    [
      "cat <<'E'\nit's $x `y` \\n \"z\" \\\n\tTab  \n~.\n~?\n~~\nE",
      'it\'s $x `y` \\n "z" \\\n\tTab  \n~.\n~?\n~~',
      0,
    ],
    ["x=1; cat <<E - <<F\n$x $((1+1))\nE\nlast\nF", "last", 0],
    ["cat <<EOF\nhi", /delimited by end-of-file[\s\S]*\nhi$/, 0],
    ["cat <<E | tr a-z A-Z\nabc\nE", "ABC", 0],
    [`cat <<'EOF' | python3\nprint('${"N".repeat(3000)}')\nEOF`, "N".repeat(3000), 0],
  ],
  "control characters in a command": [
    [
      "printf '%s' '\x01\x02\x03\x04\x05\x08\x11\x12\x13\x15\x16\x17\x1a\x1b\x1c\x7f\r~.' | xxd -p",
      "01020304050811121315161 71a1b1c7f0d7e2e".replaceAll(" ", ""),
      0,
    ],
    ["cat <<'E' | xxd -p\n\x03\x04\x1a\x1c\x15\x13\x11\x16\x7f\nE", "03041a1c151311167f0a", 0],
    ["echo 'a\tb\t\t'", "a\tb\t\t", 0],
    ["echo !! !x '!y'", "!! !x !y", 0],
  ],
  "syntax errors": [
    ["echo 'abc", /unexpected EOF|syntax error/, 2],
    ["echo $?", "2", 0],
    ["if true; then", /syntax error/, 2],
    ["}", /syntax error/, 2],
    ["echo }; echo '{'", "}\n{", 0],
    ["nosuchcmd", /nosuchcmd: command not found$/, 127],
    ["# only a comment", "", 127],
    ["echo a \\\n  b", "a b", 0],
  ],
  "a terminal that is set otherwise": [
    ...[
      "-echo",
      "raw",
      "-icanon",
      "-icrnl",
      "-isig",
      "opost onlcr",
      "cols 20",
      "-iutf8",
      "echoctl",
      "sane",
    ].flatMap(
      (mode) =>
        [
          [`stty ${mode}; echo hi; echo ho`, "hi\nho", 0],
          ["echo 'Abc éß中👍 ~'; (exit 3)", "Abc éß中👍 ~", 3],
          // `sane` shows control characters, also the newlines that we type, which only here can be mended.
          ["stty sane -echoctl", "", 0],
        ] as const,
    ),
  ],
  "stderr that is closed": [
    ["exec 2>&-", "", 0],
    ["echo hi; (exit 3)", "hi", 3],
    ["[ $? = 3 ]", "", 0],
    ["exec 2>&1; echo err >&2", "err", 0],
  ],
  "output that goes to a file": [
    ["exec >out", "", 0],
    ["echo hi; echo err >&2; (exit 4)", "err", 4],
    ["exec >/dev/tty", "", 0],
    ["cat out; echo back", "hi\nback", 0],
  ],
  "set -x": [
    ["set -x", "", 0],
    ["echo hi", /^\++ echo hi\nhi$/, 0],
    ["(exit 3)", /^\++ exit 3$/, 3],
    ["set +x", /^\++ set \+x$/, 0],
    ["echo hi", "hi", 0],
  ],
  "set -v": [
    ["set -v", "", 0],
    ["echo hi", "echo hi\nhi", 0],
    ["set +v", "set +v", 0],
  ],
  "prompts of the user's": [
    ...[
      "PS1='P> '",
      "PS1=",
      "unset PS1",
      "PS1='$(echo run; false) '",
      "PS0='zero '",
      "PROMPT_COMMAND='echo \"[$?]\"'",
      "PROMPT_COMMAND='printf \"no newline\"'",
      "PROMPT_COMMAND=('echo a' 'false')",
      "PROMPT_COMMAND='PS1=$(printf \"\\e]133;A\\a theme> \")'",
      "PS1='\\e[31m[\\w]\\e[0m\n$ '",
    ].flatMap(
      (setting) =>
        [
          [setting, "", 0],
          ["echo hi; (exit 3)", "hi", 3],
          ['echo "$?"', "3", 0],
        ] as const,
    ),
    ["unset PROMPT_COMMAND PS0; sleep 0.1; echo hi", "hi", 0],
  ],
  traps: [
    ["trap 'echo E' ERR", "", 0],
    ["false; true", "E", 0],
    ["trap - ERR; trap 'echo D' DEBUG", "", 0],
    ["echo hi", "D\nhi", 0],
    ["echo a; echo b", "D\na\nD\nb", 0],
    ["trap - DEBUG", "D", 0],
    ["trap 'echo usr' USR1; kill -USR1 $$", "usr", 0],
    ["set -T; trap 'echo R' RETURN; f() { :; }; f", "R", 0],
    ["trap - RETURN; echo x", "x", 0],
  ],
  "options that change how bash reads": [
    ["set -u; unset PS1 PROMPT_COMMAND OLDPWD; echo hi", "hi", 0],
    ["set +u; set -a; mine=1", "", 0],
    ["env | grep -c __evsh", "0", 1],
    ["set +a; IFS=0123456789; echo hi; (exit 13)", "hi", 13],
    ['echo "$?"', "13", 0],
    ["unset IFS; set -o posix; test() { echo NO; }; (exit 5)", "", 5],
    ["echo $?", "5", 0],
  ],
  "our own words": [
    ["declare -f >/dev/null; set >/dev/null; echo last", "last", 0],
    ["alias builtin=/bin/false printf='echo NO' echo='/bin/echo NO'", "", 0],
    ["/bin/echo hi; /bin/sh -c 'exit 3'", "hi", 3],
    ["unalias -a", "", 0],
    ["printf() { /bin/echo NO; }", "", 0],
    ["/bin/echo hi", "hi", 0],
    ["unset -f printf", "", 0],
    ["printf '%s\\n' hi; (exit 3)", "hi", 3],
  ],
  "the working directory": [
    ["cd /usr/bin; cd ..", "", 0],
    ["pwd; false", "/usr", 1],
    ["mkdir -p /tmp/$$/'d é/中'; cd /tmp/$$/'d é/中' && basename \"$PWD\"", "中", 0],
    ['rm -r "/tmp/$$"; echo gone', "gone", 0],
    ["cd /; pwd", "/", 0],
  ],
  statuses: [0, 1, 2, 126, 127, 128, 130, 254, 255].map(
    (status) => [`(exit ${status})`, "", status] as const,
  ),
};

/** Runs a session and tells of each command what the result says. */
async function play(shell: Shell, session: Session): Promise<[string, number | string][]> {
  const told: [string, number | string][] = [];
  for (const [command] of session) {
    const result = await shell.run(command, { timeoutMs: 20_000, maxOutputChars: 2_000_000 });
    told.push(brief(result));
    expect(result.background, `after ${command.slice(0, 200)}`).toBe("");
    expect(result.clip).toBeNull();
  }
  return told;
}

function expectAsSaid(told: readonly [string, number | string][], session: Session): void {
  for (const [i, [command, expected, status]] of session.entries()) {
    const at = command.slice(0, 200);
    const [text, end] = told[i] ?? [];
    expect(end, at).toBe(status);
    if (typeof expected !== "string") expect(text, at).toMatch(expected);
    // Of long texts a difference is found by their hash.
    else if (expected.length > 10_000) expect(sha256(text ?? ""), at).toBe(sha256(expected));
    else expect(text, at).toBe(expected);
  }
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

const WHERE = {
  here: (options?: ShellOptions) => open(options),
  "through ssh": (options?: ShellOptions) => openFar(options),
};

describe.each(Object.keys(WHERE) as (keyof typeof WHERE)[])("%s", (where) => {
  test.each(Object.entries(SESSIONS))("%s", async (_, session) => {
    expectAsSaid(await play(await WHERE[where](), session), session);
  });

  test.each([201, 202, 203])("texts of any characters arrive whole (seed %i)", async (seed) => {
    const chance = new Chance(seed);
    const cwd = folder();
    const shell = await WHERE[where]({ cwd });
    const alphabet = [
      ...Array.from({ length: 0x7e }, (_, i) => String.fromCharCode(i + 1)),
      ..."\\\\''\"`$!#~",
      ...[
        "\n~.",
        "\n~\x1a",
        "\\\n",
        "$(",
        "<<E",
        "ä",
        "€",
        "漢",
        "😀",
        "👩‍👧",
        "\u2028",
        "\ufeff",
        "word ",
      ],
    ];
    for (let round = 0; round < 12; round++) {
      const text = chance.text(1 + chance.int(chance.pick([20, 1500, 20_000])), alphabet);
      const at = `round ${round} of seed ${seed}`;
      expect(await output(shell, `cat >f <<'E N D'\n${text}\nE N D`), at).toBe("");
      expect(readFileSync(join(cwd, "f"), "utf8"), at).toBe(`${text}\n`);
      expect(await output(shell, `printf %s ${quoted(text)} >f`), at).toBe("");
      expect(readFileSync(join(cwd, "f"), "utf8"), at).toBe(text);
      const plain = text.replace(/[\x00-\x08\x0b-\x1f\x7f]/g, "").replace(/\n$/, "");
      writeFileSync(join(cwd, "f"), plain);
      expect(await output(shell, "cat f"), at).toBe(plain);
    }
  });

  test("any bytes end no command and leave nothing behind", async () => {
    const chance = new Chance(204);
    const cwd = folder();
    const shell = await WHERE[where]({ cwd });
    for (let round = 0; round < 10; round++) {
      const bytes = Uint8Array.from({ length: 1 + chance.int(3000) }, () => chance.int(256));
      writeFileSync(join(cwd, "bytes"), bytes);
      const run = await shell.run("cat bytes; (exit 5)", { timeoutMs: 5_000 });
      expect(run.end, `round ${round}`).toEqual({ kind: "finished", exitCode: 5 });
      expect(await output(shell, "echo next"), `round ${round}`).toBe("next");
    }
  });

  test("the live output is what was printed, in one piece", async () => {
    const shell = await WHERE[where]();
    for (const command of [
      "echo hi",
      "seq 1 5000",
      "printf 'no newline'",
      "printf 'a\\tb\\n\\n'",
    ]) {
      const listener = new Listener();
      const text = await output(shell, command, 0, { onOutput: listener.onOutput });
      expect(listener.text.replace(/\n$/, "")).toBe(text);
    }
  });

  test("of a clipped output all is in a file", async () => {
    const whole = lines(50_000);
    const shell = await WHERE[where]();
    const run = await shell.run("seq 50000", { maxOutputChars: 1000, keep: "tail" });
    expect(run.output).toBe(whole.slice(-1000));
    expect(run.clip).toMatchObject({
      shownChars: 1000,
      totalChars: whole.length,
      lostPrefix: false,
    });
    expect(readFileSync(run.clip?.spillPath as string, "utf8")).toBe(`${whole}\n`);
    await shell.close();
    expect(existsSync(run.clip?.spillPath as string)).toBe(false);
  });

  test("what is typed is read, its echo shown", async () => {
    const shell = await WHERE[where]();
    const listener = new Listener();
    const running = shell.run('read -p "name? " x; echo "<$x>"; read -s y; echo "[$y]"', {
      onOutput: listener.onOutput,
    });
    await listener.heard("name? ");
    await shell.write("Ada é\n");
    await listener.heard("<Ada é>");
    await shell.write("secret\n");
    const run = await settled(shell, running);
    expect(run).toEqual({
      output: "name? Ada é<Ada é>[secret]",
      end: { kind: "finished", exitCode: 0 },
    });
    expect(await output(shell, 'echo "$x $y"')).toBe("Ada é secret");
  });

  test("input that is left unread is never run", async () => {
    const shell = await WHERE[where]();
    const listener = new Listener();
    const running = shell.run('echo on; read x; sleep 0.3; echo "[$x]"', {
      onOutput: listener.onOutput,
    });
    await listener.heard("on");
    await shell.write("1\ntouch run\ntouch run\n");
    expect((await settled(shell, running)).output).toContain("[1]");
    expect(brief(await shell.run("echo next; ls"))).toEqual(["next", 0]);
  });

  test("a megabyte typed into a program reaches it", async () => {
    const typed = `${new Chance(16).text(63, [..."0123456789abcdef"])}\n`.repeat(16_384);
    const shell = await WHERE[where]();
    const listener = new Listener();
    const first = shell.run("stty -echo; echo ready; cat | sha256sum; stty echo", {
      onOutput: listener.onOutput,
    });
    await listener.heard("ready");
    await shell.write(typed);
    await shell.write({ keys: ["C-d"] });
    expect((await settled(shell, first)).output).toBe(`ready${sha256(typed)}  -`);
  });

  test("waiting goes in steps", async () => {
    const cwd = folder();
    const shell = await WHERE[where]({ cwd });
    const first = await shell.run(
      "echo a; until [ -e go ]; do sleep 0.01; done; echo b; (exit 4)",
      {
        waitMs: 400,
      },
    );
    expect(brief(first)).toEqual(["a", "running"]);
    await refusal(shell.run("echo no"), "BUSY");
    expect(brief(await shell.wait({ waitMs: 50 }))).toEqual(["", "running"]);
    writeFileSync(join(cwd, "go"), "");
    expect(brief(await shell.wait())).toEqual(["b", 4]);
    expect(await output(shell, "echo $?")).toBe("4");
  });

  test("a timeout resets the shell", async () => {
    const cwd = folder();
    const shell = await WHERE[where]({ cwd });
    await output(shell, "mine=1; cd /");
    const { pid } = shell;
    const run = await shell.run("echo begun; sleep 300", { timeoutMs: 600 });
    expect([run.output, run.end]).toEqual(["begun", { kind: "timedOut", shellKept: false }]);
    expect(await output(shell, 'echo "[$mine] $PWD"')).toBe(`[] ${cwd}`);
    expect(shell.pid).not.toBe(pid);
    await until("the first bash is gone", () => !lives(pid as number));
  });

  test("a timeout that interrupts keeps the shell", async () => {
    const shell = await WHERE[where]();
    await output(shell, "mine=1");
    const { pid } = shell;
    for (let i = 0; i < 3; i++) {
      const run = await shell.run("echo begun; sleep 300; echo never", {
        timeoutMs: 400,
        onTimeout: "interrupt",
      });
      expect(run.output).toMatch(/^begun\n(\^C)?$/);
      expect(run.end).toEqual({ kind: "timedOut", shellKept: true });
      expect(brief(await shell.run('echo "$? $mine"'))).toEqual(["130 1", 0]);
    }
    expect(shell.pid).toBe(pid);
  });

  test("a timeout that a program withstands ends it, or the shell", async () => {
    const shell = await WHERE[where]({ graceMs: 500 });
    const run = await shell.run(
      "sh -c 'trap \"\" INT QUIT TERM; echo $$; while :; do sleep 0.1; done'",
      {
        timeoutMs: 500,
        onTimeout: "interrupt",
      },
    );
    expect(run.end.kind).toBe("timedOut");
    expect(await output(shell, "echo next")).toBe("next");
    const pid = Number(run.output.split("\n")[0]);
    await until("the program is gone", () => !lives(pid));
  });

  test.each(["reset", "interrupt"] as const)("an abort is obeyed (%s)", async (onAbort) => {
    const shell = await WHERE[where]();
    await output(shell, "mine=1");
    const listener = new Listener();
    const controller = new AbortController();
    const running = shell.run("echo $BASHPID; sleep 300", {
      signal: controller.signal,
      onAbort,
      onOutput: listener.onOutput,
    });
    await listener.heard("\n");
    controller.abort();
    await refusal(running, "ABORTED");
    expect(await output(shell, 'echo "[$mine]"')).toBe(onAbort === "reset" ? "[]" : "[1]");
  });

  test.each(["PS1='$ '", "unset PS1", "true"])(
    "after %s an interrupt ends the command and keeps the state",
    async (setting) => {
      const shell = await WHERE[where]();
      await output(shell, `${setting}; mine=1`);
      const { pid } = shell;
      for (const stop of [() => shell.interrupt(), () => shell.write({ keys: ["C-c"] })]) {
        const listener = new Listener();
        const running = shell.run("echo on; sleep 300", {
          timeoutMs: 10_000,
          onOutput: listener.onOutput,
        });
        await listener.heard("on\n");
        await stop();
        expect((await running).end).toEqual({ kind: "interrupted", exitCode: 130 });
        expect(brief(await shell.run('echo "$? $mine"'))).toEqual(["130 1", 0]);
      }
      expect(shell.pid).toBe(pid);
    },
  );

  test("a program that catches an interrupt goes on", async () => {
    const shell = await WHERE[where]();
    const listener = new Listener();
    const running = shell.run(
      "sh -c 'trap \"echo caught; exit 6\" INT; echo on; while :; do sleep 0.1; done'",
      {
        onOutput: listener.onOutput,
      },
    );
    await listener.heard("on");
    await shell.interrupt();
    const run = await running;
    expect(run.output).toMatch(/^on\n(\^C)?caught$/);
    expect(run.end).toEqual({ kind: "finished", exitCode: 6 });
  });

  test.each([0, 7, 255])("exit %i is told, and the next shell is fresh", async (exitCode) => {
    const cwd = folder();
    const shell = await WHERE[where]({ cwd });
    await output(shell, "cd /; mine=1");
    const { pid } = shell;
    const run = await shell.run(`seq 3000; exit ${exitCode}`);
    expect(run.output).toBe(lines(3000));
    expect(run.end).toEqual({ kind: "shellExited", exitCode, signal: null });
    expect(await output(shell, 'echo "[$mine] $PWD"')).toBe(`[] ${cwd}`);
    expect(shell.pid).not.toBe(pid);
  });

  test("a shell that is killed is told, and the next is fresh", async () => {
    const shell = await WHERE[where]();
    expect((await shell.run("echo last; kill -9 $$")).end.kind).toBe("shellExited");
    expect(await output(shell, "echo next")).toBe("next");
  });

  test("with the option a shell that ended is closed", async () => {
    const shell = await WHERE[where]({ onShellEnd: "close" });
    await shell.run("exit 3");
    await until(
      "it is closed",
      async () => (await shell.run("echo").catch((error) => error.code)) === "CLOSED",
    );
  });

  test("the environment is fit for a terminal nobody looks at", async () => {
    const shell = await WHERE[where]();
    const names = "TERM PAGER GIT_PAGER MANPAGER SYSTEMD_PAGER EDITOR VISUAL GIT_EDITOR HISTFILE";
    const [set, exported, history, locale] = await outputs(
      shell,
      `for n in ${names}; do printf '%s=%s\\n' $n "\${!n-unset}"; done`,
      "env | grep -E '^(PS[0-4]|PROMPT_COMMAND|TMOUT|CDPATH|OLDPWD|__evsh.*)=' || echo none",
      "echo ${HISTFILE-unset}; shopt -o history histexpand emacs vi",
      "locale charmap",
    );
    expect(set).toBe(
      "TERM=xterm-256color\nPAGER=cat\nGIT_PAGER=cat\nMANPAGER=cat\nSYSTEMD_PAGER=\nEDITOR=true\nVISUAL=true\nGIT_EDITOR=true\nHISTFILE=unset",
    );
    expect(exported).toBe("none");
    expect(history).toMatch(/^unset\nhistory\s+off\nhistexpand\s+off\nemacs\s+off\nvi\s+off$/);
    expect(locale).toBe("UTF-8");
  });

  test("directory and variables are those of the options, also after the shell has ended", async () => {
    const cwd = join(folder(), 'a b\'c\n"d" $x é');
    mkdirSync(cwd);
    const values = {
      PLAIN: "1",
      QUOTES: `it's "q" \`b\` $x \\n !`,
      MANY_LINES: "one\ntwo\n",
      WIDE: "漢 👍 \u0301",
      EMPTY: "",
      CONTROL: "\x01\x03\x1b\t~.",
      PAGER: "more",
      PS1: "mine> ",
    };
    const shell = await WHERE[where]({
      cwd,
      env: { ...values, LOGNAME: undefined, FAR_SIDE: undefined },
    });
    for (let i = 0; i < 2; i++) {
      expect(await output(shell, 'printf %s "$PWD"')).toBe(cwd);
      expect((await shell.run("true")).cwd).toBe(cwd);
      for (const [name, value] of Object.entries(values)) {
        if (name === "PS1") continue;
        await output(shell, `printenv ${name} >/dev/null; printf %s "$${name}" >../value`);
        expect(readFileSync(join(cwd, "../value"), "utf8"), name).toBe(value);
      }
      expect(await output(shell, 'echo "${LOGNAME-unset} ${FAR_SIDE-unset}"')).toBe("unset unset");
      await shell.run("cd /; PLAIN=; exit");
    }
  });

  test("late output of a job comes once", async () => {
    const cwd = folder();
    const shell = await WHERE[where]({ cwd });
    const job =
      '(i=0; until [ -e stop ]; do echo "<$i>"; i=$((i+1)); sleep 0.01; done; echo $i >count) &';
    const results: RunResult[] = [await shell.run(job)];
    for (let i = 0; i < 60; i++) {
      results.push(await shell.run(`echo own${i}`));
      expect(results.at(-1)?.output).toContain(`own${i}`);
    }
    results.push(await shell.run("touch stop; wait"), await shell.run("true"));
    const all = results.map((each) => `${each.background}\n${each.output}`).join("\n");
    const count = Number(readFileSync(join(cwd, "count"), "utf8"));
    expect([...all.matchAll(/<(\d+)>/g)].map((match) => Number(match[1]))).toEqual(
      Array.from({ length: count }, (_, i) => i),
    );
    expect(all).not.toMatch(/evsh|8133/);
  });

  test("the size of the terminal is seen by programs", async () => {
    const shell = await WHERE[where]({ cols: 90, rows: 20 });
    expect(await output(shell, "stty size")).toBe("20 90");
    shell.resize(200, 50);
    await until(
      "the new size is seen",
      async () => (await output(shell, "stty size")) === "50 200",
    );
    await shell.run("exit");
    expect(await output(shell, "stty size")).toBe("50 200");
  });

  test("commands side by side each get their own output", async () => {
    const shell = await WHERE[where]();
    const runs = Array.from({ length: 10 }, (_, i) =>
      shell.run(`echo a${i}; sleep 0.02; echo b${i}`),
    );
    expect((await Promise.all(runs)).map(brief)).toEqual(runs.map((_, i) => [`a${i}\nb${i}`, 0]));
  });
});

/** What bash says of jobs; when it does is a matter of time. */
const NOTICE = /^\[\d+\][-+ ] +[A-Z].*\n?/gm;

/** What a program comes to, so that both sides can be compared: ids of processes differ, and when jobs are told of. */
async function playProgram(program: readonly string[], options: ShellOptions): Promise<unknown[]> {
  await using shell = await openShell(options);
  const told: unknown[] = [];
  const notices: string[] = [];
  for (const line of [...program, ":"]) {
    const { output: text, background, end } = await shell.run(line, { timeoutMs: 10_000 });
    const all = [background, text]
      .map((each) => (each === "" ? "" : `${each}\n`))
      .join("")
      .replace(/^(\[\d+\][-+]?) +\d+$/gm, "$1 PID")
      .replace(/^(bash: .*?)\b\d{2,} (?=[A-Z])/gm, "$1PID ");
    notices.push(...(all.match(NOTICE) ?? []).map((notice) => notice.trim()));
    told.push([line, all.replace(NOTICE, "").replace(/\n$/, ""), end]);
    if (end.kind === "shellExited") break;
  }
  if (!program.some((line) => /\bwait\b/.test(line))) told.push(notices);
  return told;
}

test.each(["raw", "-icanon", "cbreak"])(
  "here what is typed is not shown after stty sane and stty %s",
  async (mode) => {
    const shell = await open();
    const session = ["stty sane", `stty ${mode}; echo hi`, "echo there", "stty sane", "echo back"];
    const told = await play(
      shell,
      session.map((command) => [command, "", 0]),
    );
    expect(told.map(([text]) => text)).toEqual(["", "hi", "there", "", "back"]);
  },
);

test("where PROMPT_COMMAND sets the prompt over there, an interrupt is told when the time is over", async () => {
  const shell = await openFar();
  await output(shell, `PROMPT_COMMAND='PS1="> "'`);
  const listener = new Listener();
  const running = shell.run("echo on; sleep 300", {
    timeoutMs: 1_500,
    onTimeout: "interrupt",
    onOutput: listener.onOutput,
  });
  await listener.heard("on\n");
  await shell.interrupt();
  expect((await running).end.kind).toBe("timedOut");
  expect(await output(shell, "echo next")).toBe("next");
});

const DIFFERENTIAL = "test/programs/differential";

/** As `differential.test.ts` reads them. */
const programs = readdirSync(DIFFERENTIAL).flatMap((file) => {
  const [, ...blocks] = readFileSync(join(DIFFERENTIAL, file), "utf8").split(/^=== /m);
  return blocks.map((block) => {
    const [title = "", ...all] = block.trimEnd().replaceAll("\n| ", "\0").split("\n");
    return { title, program: all.map((line) => line.replaceAll("\0", "\n")) };
  });
});

describe.concurrent("a program of many lines comes to the same here and through ssh", () => {
  test.each(programs)("$title", async ({ program }) => {
    using place = temporaryFolder();
    const cwd = join(place.path, "work");
    mkdirSync(cwd);
    // Of the environment of this test the far side has nothing.
    const unset = Object.fromEntries(Object.keys(process.env).map((name) => [name, undefined]));
    const { PATH, USER = "root", LOGNAME = USER } = process.env;
    const env = { ...unset, PATH, USER, LOGNAME, HOME: home.path, LANG: "C.UTF-8" };
    const here = await playProgram(program, { cwd, env, bash });
    rmSync(cwd, { recursive: true });
    mkdirSync(cwd);
    const there = await playProgram(program, { cwd, env: { PATH }, bash, backend: sshd.backend() });
    expect(there).toEqual(here);
  });
});

const CLI = join(import.meta.dirname, "../dist/cli.js");

/** The program's results for commands that it gets as requests, without times and numbers of lines. */
async function runProgram(args: readonly string[], session: Session): Promise<RunResult[]> {
  const child = spawn(process.execPath, [CLI, "run", "--json", ...args], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const requests = session.map(
    ([command]) => `${JSON.stringify({ command, timeoutMs: 20_000 })}\n`,
  );
  child.stdin.end(requests.join(""));
  let out = "";
  for await (const piece of child.stdout.setEncoding("utf8")) out += piece;
  return out
    .trimEnd()
    .split("\n")
    .map((line): RunResult => JSON.parse(line))
    .map((result) => ({
      ...result,
      // What bash has read before counts.
      output: result.output.replace(/at line \d+/, "at line N"),
      durationMs: 0,
    }));
}

describe.concurrent("the program has the same results through a backend of its config file", () => {
  test.each([
    "state from command to command",
    "plain text",
    "painted text",
    "much output",
    "long commands",
    "here-documents",
    "control characters in a command",
    "syntax errors",
    "set -x",
    "prompts of the user's",
    "traps",
    "statuses",
  ])("%s", async (name) => {
    const session = SESSIONS[name] as Session;
    using place = temporaryFolder();
    const config = join(place.path, "config.json");
    const backends = { box: { argv: sshd.backend() } };
    writeFileSync(config, JSON.stringify({ backends, maxOutputChars: 2_000_000 }));
    const common = ["--config", config, "--cwd", place.path, "--backend"];
    const here = await runProgram([...common, "shell"], session);
    const there = await runProgram([...common, "box"], session);
    expectAsSaid(here.map(brief), session);
    expectAsSaid(there.map(brief), session);
    expect(there).toEqual(here);
  });
});

/** The ssh processes that this one has started. */
function clients(): number[] {
  return processes()
    .filter(({ parent, command }) => parent === process.pid && /^(ssh|bash) /.test(command))
    .map(({ pid }) => pid);
}

describe("nothing is left", () => {
  test("of a shell that is closed, neither here nor over there", async () => {
    const shell = await openFar();
    const jobs = await output(shell, "sleep 301 & sleep 302 & (sleep 303 &); jobs -p; echo $$");
    const started = jobs.split("\n").filter((line) => /^\d+$/.test(line));
    const running = await shell.run("echo $BASHPID; sh -c 'echo $$; sleep 304'", { waitMs: 200 });
    const pids = [...started, ...running.output.split("\n")].map(Number);
    expect(pids.length).toBe(5);
    expect(clients()).not.toEqual([]);
    await shell.close();
    expect(clients()).toEqual([]);
    await until("the far side is gone", () => !pids.some(lives));
  });

  test("of twenty shells one after another", async () => {
    const pids: number[] = [];
    for (let i = 0; i < 20; i++) {
      const shell = await openFar();
      pids.push(shell.pid as number);
      expect(brief(await shell.run(`echo ${i}`))).toEqual([`${i}`, 0]);
      await shell.close();
    }
    expect(new Set(pids).size).toBe(20);
    expect(clients()).toEqual([]);
    await until("the far bashes are gone", () => !pids.some(lives));
  });

  test("of shells that are closed while they open, and of many at once", async () => {
    const shells = await Promise.all(Array.from({ length: 5 }, () => openFar()));
    const results = await Promise.all(
      shells.map((shell, i) => shell.run(`echo ${i}; (exit ${i})`)),
    );
    expect(results.map(brief)).toEqual([0, 1, 2, 3, 4].map((i) => [`${i}`, i]));
    await Promise.all(shells.map((shell) => shell.close()));
    expect(clients()).toEqual([]);
  });

  test("when the connection is cut, the shell has ended and the next command has a fresh one", async () => {
    const shell = await openFar();
    const listener = new Listener();
    const running = shell.run("echo on; sleep 305", { onOutput: listener.onOutput });
    await listener.heard("on");
    for (const pid of clients()) process.kill(pid, "SIGKILL");
    expect((await running).end).toMatchObject({ kind: "shellExited", signal: "SIGKILL" });
    expect(await output(shell, "echo next")).toBe("next");
  });
});

/** Commands whose results tell whether a shell is as any other. */
const PROBE: Session = [
  ["echo hi; (exit 3)", "hi", 3],
  ['echo "$?"', "3", 0],
  ["a=(1 2); [[ ${a[1]} == 2 ]] && cat <<E\n${a[*]}\nE", "1 2", 0],
  ["seq 3000", lines(3000), 0],
  ["printf 'a\\tb  \\n\\n'", "a\tb  \n", 0],
  ["echo ${BASH_VERSION:+bash}; shopt -q login_shell; env | grep -c '^PS1='", "bash\n0", 1],
  ["nosuchcmd", "bash: nosuchcmd: command not found", 127],
  ["printf %s 'no newline'", "no newline", 0],
];

/** Gives the far user start-up files until the end of the test. */
function greet(text: string): void {
  for (const name of [".profile", ".bashrc"]) {
    const path = join(home.path, name);
    writeFileSync(path, text);
    onTestFinished(() => rmSync(path));
  }
}

/** What people have in their start-up files. */
const NOISE = `
echo "Welcome to $(hostname)!"; printf 'no newline'
PS1='\\[\\e[31m\\]\\u@\\h:\\w\\$ \\[\\e[0m\\]'; PS2='more> '; PS0='[running]'
PROMPT_COMMAND='printf "\\e]0;title\\a"; echo from_prompt'
alias ls='ls --color' bash='echo NO'
trap 'echo DEBUG trap' DEBUG
set -o vi; shopt -s histappend; HISTFILE=~/.mine
export LESS=-R TMOUT=100 CDPATH=/usr
stty -ixon 2>/dev/null
false
`;

/** What is run over there, if not the user's own shell; and what the start-up files say. */
const GREETINGS: readonly (readonly [title: string, command: string | undefined, files: string])[] =
  [
    ["a dash at its prompt", "exec sh -i", ""],
    ["a login dash", "exec sh -l", "echo profile; PS1='prof> '"],
    ["a bash without readline", "exec bash --norc --noediting -i", ""],
    ["a bash that prints, prompts and traps", undefined, NOISE],
    [
      "a bash with aliases for our words",
      undefined,
      "alias exec='echo NO' env='echo NO' bash='echo NO' stty='echo NO'",
    ],
    ["a greeting of a thousand lines", undefined, "seq 1000; sleep 0.3; seq 1000; PS1='> '"],
    ["a greeting that paints", undefined, "printf '\\e[2J\\e[H\\e[?1049h full \\e[6n'; PS1='> '"],
    ["a slow start-up file", undefined, "echo loading; sleep 1.5; echo loaded"],
    ["a slow start-up file that looks for input", undefined, 'read -t 1 x; echo "<$x>"'],
    ["a prompt that takes time", undefined, "PROMPT_COMMAND='sleep 0.3; echo late'"],
    ["no terminal echo", "stty -echo; exec bash -l", ""],
    ["a raw terminal", "stty raw; exec sh -i", ""],
    ["su to another shell", "exec su - nobody -s /bin/sh", ""],
    ["su to bash", "exec su nobody -s /bin/bash", ""],
  ];

/** Programs that lead to another shell of this machine. */
const PROGRAMS: readonly [string, ...string[]][] = [
  ["sh", "-i"],
  ["su", "-", "nobody", "-s", "/bin/sh"],
  ["env", "A=1", "bash", "--norc", "-i"],
  ["script", "-qec", "sh -i", "/dev/null"],
];

/** Of an ordinary user su asks for a password. */
const isRoot = process.getuid?.() === 0;

describe("whatever the far side greets with", () => {
  const greetings = GREETINGS.filter(([title]) => isRoot || !title.startsWith("su "));

  test.each(greetings)("%s", async (_, command, files) => {
    greet(files);
    const shell = await openFar({ cwd: "/" }, command === undefined ? {} : { command });
    expectAsSaid(await play(shell, PROBE), PROBE);
    expect((await shell.run("cd /usr")).cwd).toBe("/usr");
    await shell.run("exit");
    expectAsSaid(await play(shell, PROBE), PROBE);
  });

  const programs = PROGRAMS.filter(([name]) => isRoot || name !== "su").map((argv) => ({ argv }));

  test.each(programs)("without ssh: $argv", async ({ argv }) => {
    const shell = await open({ backend: argv, cwd: "/" });
    expectAsSaid(await play(shell, PROBE), PROBE);
    const text = SESSIONS["plain text"] as Session;
    expectAsSaid(await play(shell, text), text);
  });
});

describe("what cannot be reached is said, with the reason", () => {
  /** Opens a shell that does not open; tells why, and expects it soon. */
  async function failure(code: string, options: ShellOptions): Promise<string> {
    const begun = performance.now();
    const { message } = await refusal(openShell(options), code);
    expect(performance.now() - begun, message).toBeLessThan(5_000);
    expect(message).not.toMatch(/evsh|8133/);
    expect(clients()).toEqual([]);
    return message;
  }

  test("nobody listens", async () => {
    const argv = sshd.backend().map((word) => (word === String(sshd.port) ? "1" : word));
    const backend = argv as [string, ...string[]];
    expect(await failure("START_FAILED", { backend })).toContain("Connection refused");
  });

  test("the host key is not known, and ssh asks", async () => {
    const backend = sshd.backend({
      options: ["StrictHostKeyChecking=ask", "UserKnownHostsFile=/dev/null"],
    });
    const message = await failure("START_FAILED", { backend });
    expect(message).toMatch(/^ssh asks something/);
    expect(message).toContain("authenticity of host");
  });

  test("the key is not let in", async () => {
    const message = await failure("START_FAILED", { backend: sshd.backend({ key: "stranger" }) });
    expect(message).toContain("Permission denied");
  });

  test("the key has a passphrase", async () => {
    const key = join(sshd.folder, "locked");
    execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "secret", "-f", key]);
    appendFileSync(join(sshd.folder, "authorized"), readFileSync(`${key}.pub`));
    const message = await failure("START_FAILED", { backend: sshd.backend({ key: "locked" }) });
    expect(message).toMatch(/^ssh asks something/);
  });

  test("there is no bash over there", async () => {
    const options = { backend: sshd.backend(), bash: "nosuchbash" };
    expect(await failure("BASH_NOT_FOUND", options)).toContain("nosuchbash");
  });

  test("there is no such directory over there", async () => {
    const options = { backend: sshd.backend(), cwd: "/no such/dir" };
    expect(await failure("BAD_CWD", options)).toContain("/no such/dir");
  });

  test.each([
    [["true"], /code 0/],
    [["false"], /code 1/],
    [["sh", "-c", "echo go away; exit 3"], /code 3[\s\S]*go away/],
    [["sh", "-c", "kill -9 $$"], /SIGKILL/],
  ] satisfies [[string, ...string[]], RegExp][])(
    "the program ends at once: %j",
    async (backend, why) => {
      expect(await failure("START_FAILED", { backend })).toMatch(why);
    },
  );

  test("there is no such program", async () => {
    const backend: [string, ...string[]] = ["no-such-program", "-x"];
    expect(await failure("BASH_NOT_FOUND", { backend })).toContain("no-such-program");
  });

  test("a program that reads commands of its own", async () => {
    const message = await failure("START_FAILED", { backend: ["python3", "-q"] });
    expect(message).toMatch(/^python3 asks something/);
  });

  test("a program that neither reads nor ends", async () => {
    const options: ShellOptions = { backend: ["sleep", "300"], startTimeoutMs: 500 };
    expect(await failure("START_FAILED", options)).toContain("within 500 ms");
  });

  test("a far side that gets lost is said by the next command, and a later one finds it again", async () => {
    const gone = join(folder(), "gone");
    writeFileSync(gone, "#!/bin/sh\nexec sh -i\n", { mode: 0o755 });
    const shell = await open({ backend: [gone], cwd: "/" });
    expect(await output(shell, "echo there")).toBe("there");
    chmodSync(gone, 0o644);
    await shell.run("exit");
    await refusal(shell.run("echo lost"), "START_FAILED");
    chmodSync(gone, 0o755);
    expect(await output(shell, "echo back")).toBe("back");
  });
});
