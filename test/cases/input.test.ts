/** A command arrives as it was given, whatever its length, its lines and its characters. */

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  bareBash,
  bashMajor,
  Chance,
  folder,
  Listener,
  open,
  output,
  outputs,
  quoted,
  settled,
} from "../support.ts";

/** Each has had a special meaning to some shell, terminal or tool. */
const AWKWARD = [
  ..."abc XYZ 019 \t\n\r!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~",
  ...[
    "\x01",
    "\x03",
    "\x04",
    "\x08",
    "\x0e",
    "\x11",
    "\x13",
    "\x15",
    "\x16",
    "\x17",
    "\x1a",
    "\x1b",
    "\x1c",
    "\x7f",
  ],
  ...[
    "é",
    "ß",
    "中",
    "─",
    "👍",
    "\u0301",
    "\u00a0",
    "\u2028",
    "\ufeff",
    "\ufffd",
    "\u0085",
    "EOF",
    "$'",
    "\\x41",
    "__evsh_",
  ],
];

describe("long and many-line commands", () => {
  test.each([19, 30, 120])("%i lines come back once each and in order [IN-1]", async (count) => {
    const shell = await open();
    const lines = Array.from({ length: count }, (_, i) => `L${i} ${"a".repeat(50)}`);
    expect(await output(shell, lines.map((line) => `echo '${line}'`).join("\n"))).toBe(
      lines.join("\n"),
    );
  });

  test("one line of any length around the limits of a terminal's line arrives whole [IN-1]", async () => {
    const shell = await open();
    const limits = [
      255, 256, 779, 780, 781, 999, 1000, 1023, 1024, 1025, 4094, 4095, 4096, 4097, 65_537,
    ];
    for (const length of limits) {
      const text = "abcdefghij".repeat(Math.ceil(length / 10)).slice(0, length);
      expect(await output(shell, `printf %s ${text}`), `${length} characters`).toBe(text);
    }
  });

  test("wide characters and escapes that stand across the cuts of a line stay whole [IN-1]", async () => {
    const shell = await open();
    for (const unit of ["👍", "中", "é", "\t", "\\", "\\'", "!"]) {
      for (const shift of [0, 1, 2, 3]) {
        const text = "x".repeat(shift) + unit.repeat(1500);
        const all = `printf %s "$(cat <<'END'\n${text}\nEND\n)"`;
        expect(await output(shell, all), `${JSON.stringify(unit)} after ${shift}`).toBe(text);
      }
    }
  });

  test("a megabyte of command arrives byte for byte [IN-15]", async () => {
    const shell = await open();
    const body = new Chance(15).text(20_000, [..."0123456789abcdef", "中", " "]).repeat(50);
    const hash = createHash("sha256").update(`${body}\n`).digest("hex");
    expect(await output(shell, `sha256sum <<'END'\n${body}\nEND`)).toBe(`${hash}  -`);
  });

  test("a megabyte typed into a program reaches it byte for byte [IN-15]", async () => {
    const shell = await open();
    const typed = `${new Chance(16).text(63, [..."0123456789abcdef"])}\n`.repeat(16_384);
    const listener = new Listener();
    const first = await shell.run("stty -echo; echo ready; cat | sha256sum; stty echo", {
      waitMs: 1,
      onOutput: listener.onOutput,
    });
    await listener.heard("ready");
    await shell.write(typed);
    await shell.write({ keys: ["C-d"] });
    const hash = createHash("sha256").update(typed).digest("hex");
    const all = await settled(shell, first);
    expect(all.output).toBe(`ready${hash}  -`);
    expect(all.end).toEqual({ kind: "finished", exitCode: 0 });
  });

  test("a compound command may stand on many lines [IN-16]", async () => {
    const shell = await open();
    expect(await output(shell, "for i in 1 2 3; do\necho $i\ndone")).toBe("1\n2\n3");
  });
});

describe("heredocs", () => {
  test("one that feeds a program brings a long line whole [IN-2]", async () => {
    const shell = await open();
    const body = `print('${"N".repeat(1000)}')`;
    expect(await output(shell, `cat <<'EOF' | python3\n${body}\nEOF`)).toBe("N".repeat(1000));
  });

  test("a file is written, then run [IN-4]", async () => {
    const shell = await open();
    const command = "cat > t.py <<'EOF'\nprint(1)\nEOF\npython3 t.py && echo done";
    expect(await output(shell, command)).toBe("1\ndone");
  });

  test("nothing but the body comes back [IN-5]", async () => {
    const shell = await open();
    expect(await output(shell, "cat <<'EOF'\nHello\nEOF")).toBe("Hello");
  });

  test("a body with quotes, dollars and backslashes arrives byte for byte [IN-6]", async () => {
    const shell = await open();
    const body = `it's $x \`y\` \\n "z"`;
    expect(await output(shell, `cat <<'EOF'\n${body}\nEOF`)).toBe(body);
  });

  test.each([1, 2, 3, 4, 5, 6])(
    "a body of any characters arrives byte for byte (seed %i) [IN-6]",
    async (seed) => {
      const chance = new Chance(seed);
      const cwd = folder();
      const shell = await open({ cwd });
      for (let round = 0; round < 15; round++) {
        const body = chance.text(1 + chance.int(1500), AWKWARD);
        const at = `round ${round} of seed ${seed}`;
        await output(shell, `cat >body <<'E N D'\n${body}\nE N D`);
        expect(readFileSync(join(cwd, "body"), "utf8"), at).toBe(`${body}\n`);
        await output(shell, `printf %s ${quoted(body)} >word`);
        expect(readFileSync(join(cwd, "word"), "utf8"), at).toBe(body);
      }
    },
  );

  test("one inside of a command substitution keeps its length [IN-8]", async () => {
    const shell = await open();
    const command = `echo "$(cat <<'EOF'\n${"b".repeat(600)}\nEOF\n)" | wc -c`;
    expect((await output(shell, command)).trim()).toBe("601");
  });

  test("124 lines are written as 124 lines [IN-10]", async () => {
    const shell = await open();
    const lines = Array.from({ length: 124 }, (_, i) => `x${i} = "${"y".repeat(i)}"`).join("\n");
    expect(await output(shell, `cat > p.py <<'EOF'\n${lines}\nEOF\nwc -l p.py`)).toBe("124 p.py");
  });

  test.each(["cat <<EOF\nhi", "cat <<EOF\nhi\n", "cat <<'A' <<-B\nhi\nA\n\thi"])(
    "without its last line it ends with bash's warning, and the shell goes on [IN-17] %j",
    async (command) => {
      const shell = await open();
      const text = await output(shell, command);
      expect(text).toMatch(/here-document .*delimited by end-of-file/);
      expect(text).toMatch(/(^|\n)hi$/);
      expect(await output(shell, "echo ok")).toBe("ok");
    },
  );
});

describe("whatever bash can parse", () => {
  test.each([
    ["a comment before", "# note\necho hi", "hi"],
    ["a comment behind", "echo hi # c", "hi"],
    ["only a comment", "# nothing", ""],
    ["a comment that ends with a backslash", "echo hi # \\", "hi"],
    ["blanks around", "  \n\n echo hi \n \n", "hi"],
    ["lines with blanks at their ends", "echo a\necho b \necho c", "a\nb\nc"],
    ["tabs that indent", "if true; then\n\techo hi\nfi", "hi"],
    ["a case", "case x in x) echo y;; esac", "y"],
    ["tests and arithmetic", "[[ a == b ]] || ((x=1)); echo $x", "1"],
    ["a function over lines", "f()\n{\n  echo in $1\n}\nf x", "in x"],
    ["groups and subshells", "{ echo a; (echo b); } | tr ab AB", "A\nB"],
    ["continued lines", "echo a \\\n  b \\\n  c", "a b c"],
    ["process substitution", "cat <(echo a) <(echo b)", "a\nb"],
    ["nested quotes", `echo "a 'b' \\"c\\" $(echo "d 'e'")"`, `a 'b' "c" d 'e'`],
    ["a brace that is text", "echo }; echo {; echo '}'", "}\n{\n}"],
    ["a return that is text", "echo return; echo 'return 0; }'", "return\nreturn 0; }"],
    ["an option-like word", "-n() { echo minus; }; -n", "minus"],
    ["negation", "! false; echo $?", "0"],
  ])("%s [LEX-195] [LEX-197] [LEX-198] [D1]", async (_, command, expected) => {
    const shell = await open();
    expect(await output(shell, command)).toBe(expected);
    expect(await output(shell, "echo next")).toBe("next");
  });

  test("tests, arithmetic, case, coproc and time in one command [LEX-196]", async () => {
    const shell = await open();
    const command =
      "[[ a == b ]] && ((x=1)); case x in x) echo y;; esac; coproc cat; time -p true; kill $COPROC_PID";
    const text = await output(shell, command);
    expect(text).toMatch(/^y\n/);
    expect(text).toMatch(/real 0\.\d+\nuser 0\.\d+\nsys 0\.\d+/);
    expect(await output(shell, "echo next")).toBe("next");
  });

  test.each([
    'echo "abc',
    "echo 'abc",
    "if true; then",
    "for i in 1; do",
    "echo $(",
    "echo `",
    "(",
    "{ echo a;",
    "case x in",
    "[[ a",
    "}",
    ")",
    "fi",
    "echo a; }",
    "<",
    "a=(",
    "((",
    "f() {",
    'echo "$(echo "a)',
  ])(
    "a syntax error ends at once, with bash's status, and the shell goes on [D1] %s",
    async (command) => {
      const shell = await open();
      const bare = bareBash(command, folder());
      const result = await shell.run(command, { timeoutMs: 5_000 });
      expect(result.end).toEqual({ kind: "finished", exitCode: bare.exitCode });
      expect(result.output).toMatch(/syntax error|unexpected|unclosed|expected/);
      expect(result.output).not.toContain("__evsh");
      expect(await outputs(shell, "echo $?", "if true; then echo next; fi")).toEqual([
        `${bare.exitCode}`,
        "next",
      ]);
    },
  );

  test("an open quote and an open `if` have the status of a syntax error [D1]", async () => {
    const shell = await open();
    const status = bashMajor() >= 5 ? 2 : 1;
    await output(shell, 'echo "abc', status);
    await output(shell, "if true; then", status);
  });

  test.each(["echo hi \\", "printf hi\\", "echo a; echo b\\", "echo '\\", "\\"])(
    "a backslash at the end means what it means to `bash -c` [D1] %s",
    async (command) => {
      const shell = await open();
      const run = spawnSync("bash", ["-c", command], { encoding: "utf8" });
      const result = await shell.run(command);
      expect(result.end).toEqual({ kind: "finished", exitCode: run.status });
      if (run.status === 0) expect(result.output).toBe(run.stdout.replace(/\n$/, ""));
      expect(await output(shell, "echo next")).toBe("next");
    },
  );

  test("text before a syntax error runs as in bash itself [D1]", async () => {
    const cwd = folder();
    const shell = await open({ cwd });
    const command = "echo one\necho two\nif true; then";
    const bare = bareBash(command, cwd);
    const result = await shell.run(command);
    expect(result.output.split("\n").slice(0, 2)).toEqual(bare.output.split("\n").slice(0, 2));
    expect(result.end).toEqual({ kind: "finished", exitCode: bare.exitCode });
  });

  test("a job is announced as bash announces it, and its output is not lost [D1]", async () => {
    const shell = await open();
    const first = await shell.run("echo hi &");
    const second = await shell.run("wait; echo end");
    expect(first.output).toMatch(/^\[1\] \d+/);
    expect(first.end).toEqual({ kind: "finished", exitCode: 0 });
    const all = [first.output, second.background, second.output].join("\n");
    expect(all.match(/^hi$/gm)).toHaveLength(1);
    expect(second.output).toMatch(/end$/);
  });

  test.each([11, 12, 13, 14])(
    "texts made of bash's own words run as in bash itself (seed %i) [LEX-198]",
    async (seed) => {
      const chance = new Chance(seed);
      const cwd = folder();
      const shell = await open({ cwd });
      const words = [
        "echo a",
        ";",
        "\n",
        "&&",
        "||",
        "|",
        "!",
        "(",
        ")",
        "{ ",
        "; }",
        "if true",
        "then",
        "fi",
        "#",
        "'",
        '"',
        "$(",
        "`",
        "\\",
        "cat <<E",
        "E",
        " ",
        "true",
        "false",
        "x=1",
        "$x",
        "done",
        "while false",
        "do",
        "(exit 4)",
      ];
      for (let round = 0; round < 25; round++) {
        const text = `${chance.text(1 + chance.int(9), words)}`;
        if (text.trim() === "") continue;
        const bare = bareBash(text, cwd);
        const run = await shell.run(text, { timeoutMs: 5_000 });
        const at = `${JSON.stringify(text)}, round ${round} of seed ${seed}`;
        expect(run.end, at).toEqual({ kind: "finished", exitCode: bare.exitCode });
        // The texts of errors name places (`line 1:`), which differ.
        const printed = (all: string): string[] =>
          all.split("\n").filter((line) => /^a/.test(line));
        expect(printed(run.output), at).toEqual(printed(bare.output));
        expect(run.output, at).not.toContain("__evsh");
        expect(await output(shell, "echo $((40 + 2))"), `after ${at}`).toBe("42");
      }
    },
  );
});

describe("exclamation marks", () => {
  test.each([
    ["printf '%s' ' != ' | xxd -p", "20213d20"],
    ['echo "a != b"', "a != b"],
    ["python3 -c 'print(1 != 2)'", "True"],
  ])("stay as they are in %s [BANG-156]", async (command, expected) => {
    expect(await output(await open(), command)).toBe(expected);
  });

  test("are no history events [BANG-157]", async () => {
    const shell = await open();
    const command = `echo "hi!there"; echo '!!'; echo "!file.js"; echo !x !$ !*`;
    expect(await output(shell, command)).toBe("hi!there\n!!\n!file.js\n!x !$ !*");
  });

  test("stand unchanged between backquotes [BANG-158]", async () => {
    expect(await output(await open(), "/bin/echo '`!`'")).toBe("`!`");
  });

  test("arrive unchanged where the command turns history expansion on [BANG-157]", async () => {
    const shell = await open();
    await shell.run("set -o history -H");
    expect(await outputs(shell, "echo 'a !! b'", "echo 'c !echo'")).toEqual(["a !! b", "c !echo"]);
  });
});
