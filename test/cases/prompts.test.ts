/** Whatever the user's prompt, aliases, functions and hooks are: results hold what commands print, and no more. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { brief, Chance, folder, open, output, outputs } from "../support.ts";

describe("prompts", () => {
  test("a coloured, many-line prompt and one that moves the cursor stay out of results [RC-25]", async () => {
    const shell = await open();
    await shell.run(
      String.raw`PS1='\e[31m[\w]\e[0m
$ '; PS2=; PROMPT_COMMAND='printf "\e[s\e[70GRIGHT\e[u"'`,
    );
    for (let i = 0; i < 5; i++) expect(brief(await shell.run("echo hi"))).toEqual(["hi", 0]);
  });

  test("a theme that sets PS1 anew before each prompt stays out of results [RC-26]", async () => {
    const shell = await open();
    await shell.run(String.raw`PROMPT_COMMAND='PS1=$(printf "\e]133;A\a theme> ")'`);
    for (let i = 0; i < 5; i++) expect(brief(await shell.run("seq 3"))).toEqual(["1\n2\n3", 0]);
  });

  test("what a slow prompt command prints is no output of the next command [RC-27]", async () => {
    const shell = await open();
    await shell.run("PROMPT_COMMAND='sleep 0.2; echo from_prompt'");
    for (let i = 0; i < 3; i++) {
      const run = await shell.run("echo hi");
      expect(brief(run)).toEqual(["hi", 0]);
      expect(run.background).toBe("");
    }
  });

  test("a prompt command that is appended to breaks nothing [RC-28]", async () => {
    const shell = await open();
    expect(await outputs(shell, "PROMPT_COMMAND+='history -a'", "echo hi", "echo $?")).toEqual([
      "",
      "hi",
      "0",
    ]);
  });

  test("an array of prompt commands stays as it is and changes no status [RC-29] [HOOK-172]", async () => {
    const shell = await open();
    const [, status, declared] = await outputs(
      shell,
      "PROMPT_COMMAND=('true' 'false' 'x=1')",
      "echo $?",
      "declare -p PROMPT_COMMAND",
    );
    expect(status).toBe("0");
    expect(declared).toBe(`declare -a PROMPT_COMMAND=([0]="true" [1]="false" [2]="x=1")`);
    await output(shell, "(exit 7)", 7);
    expect(await output(shell, "echo $?")).toBe("7");
  });

  test("a command leaves the prompt variables as they are [HOOK-172]", async () => {
    const shell = await open();
    const look = `PROMPT_COMMAND=('printf p1' 'printf p2'); declare -p PROMPT_COMMAND; echo "[$PS2]"`;
    const [before, , after] = await outputs(
      shell,
      look,
      "echo x",
      `declare -p PROMPT_COMMAND; echo "[$PS2]"`,
    );
    expect(before).toContain(`[0]="printf p1" [1]="printf p2"`);
    expect(after).toBe(before);
  });

  test.each([
    "PS1='PROMPT> '",
    "PS1='\\u@\\h:\\w\\$ '",
    "PS1=",
    "unset PS1",
    "unset PS1 PS2 PS4 PROMPT_COMMAND",
    "PS1='$(echo run; false) '",
    "PS1='$(exit 3)`echo x` '",
    "PS0='zero '",
    "PS1=\"$PS1\"'> '",
    "PS1='> '\"$PS1\"",
    "PROMPT_COMMAND='echo \"[$?]\"'",
    "PROMPT_COMMAND='false'",
    "PROMPT_COMMAND='nosuchcmd'",
    "PROMPT_COMMAND='if'",
    "PROMPT_COMMAND='printf \"no newline\"'",
    "PROMPT_COMMAND='printf \"\\e]0;title\"'",
    "PROMPT_COMMAND='printf \"\\e[?1049h\"'",
    "PROMPT_COMMAND='seq 100'",
    "readonly PS1",
    "PROMPT_COMMAND=; unset PS1; readonly PS1 PS2 PROMPT_COMMAND",
    "export PS1",
    "PROMPT_DIRTRIM=1; PS4='+ trace '",
  ])(
    "results are right, and so is the status, after %s [MARK-148] [DEATH-155]",
    async (setting) => {
      const shell = await open();
      await shell.run(setting);
      for (let i = 0; i < 3; i++) {
        expect(brief(await shell.run("echo hi; (exit 3)", { timeoutMs: 5_000 }))).toEqual([
          "hi",
          3,
        ]);
        const run = await shell.run('echo "$?"', { timeoutMs: 5_000 });
        expect(brief(run)).toEqual(["3", 0]);
        expect(run.background).toBe("");
      }
    },
  );

  test.each([21, 22, 23])(
    "orders of prompt settings and commands do not matter (seed %i) [RC-25]",
    async (seed) => {
      const chance = new Chance(seed);
      const shell = await open();
      const settings = [
        "PS1='P> '",
        "unset PS1",
        "PS1='a\nb> '",
        "PROMPT_COMMAND='printf pc'",
        "unset PROMPT_COMMAND",
        "PROMPT_COMMAND=('echo one' 'printf two')",
        "PS0='zero'",
        "unset PS0",
        "set -x",
        "{ set +x; } 2>/dev/null",
        "set -u",
        "set +u",
        "stty -echo",
        "stty echo",
      ];
      for (let round = 0; round < 30; round++) {
        const setting = chance.pick(settings);
        await shell.run(setting);
        const text = `t${chance.int(1000)}`;
        const run = await shell.run(`{ echo ${text}; } 2>/dev/null; (exit 5) 2>/dev/null`);
        const lines = run.output.split("\n").filter((line) => !/^\++ /.test(line));
        const at = `${JSON.stringify(setting)}, round ${round} of seed ${seed}`;
        expect(lines, at).toEqual([text]);
        expect(run.end, at).toEqual({ kind: "finished", exitCode: 5 });
        expect(run.background, at).toBe("");
      }
    },
  );
});

describe("bracketed paste", () => {
  test("no bytes of it are in results, even where a program turned it on [BP-193]", async () => {
    const shell = await open();
    expect(await outputs(shell, "echo hello", "printf '\\e[?2004h'", "echo x")).toEqual([
      "hello",
      "",
      "x",
    ]);
  });

  test("turning it on in readline changes nothing [BP-194]", async () => {
    const shell = await open();
    await shell.run("bind 'set enable-bracketed-paste on' 2>/dev/null");
    expect(await outputs(shell, "echo x", "echo y")).toEqual(["x", "y"]);
  });

  test("after line editing was turned on, commands and statuses are right [BP-194]", async () => {
    const shell = await open();
    for (const setting of ["set -o emacs", "set -o vi", 'bind \'"\\C-x": "echo no\\n"\'']) {
      await shell.run(`${setting} 2>/dev/null`);
      expect(await outputs(shell, "echo x", "echo '\t\t'", `echo ${"y".repeat(9000)}`)).toEqual([
        "x",
        "\t\t",
        "y".repeat(9000),
      ]);
    }
  });
});

describe("aliases and functions", () => {
  test("an exported function prints nothing [RC-19]", async () => {
    expect(await outputs(await open(), "f(){ :; }; export -f f", "echo x")).toEqual(["", "x"]);
  });

  test("functions see each other in later commands [RC-20]", async () => {
    expect(await outputs(await open(), "_h(){ echo in; }; g(){ _h; }", "g")).toEqual(["", "in"]);
  });

  test("a stub from a start-up file is what the user defined [RC-21]", async () => {
    const home = folder();
    writeFileSync(join(home, ".bashrc"), "make(){ builtin autoload -XUz; }\necho from_rc\n");
    const shell = await open({ rc: "user", env: { HOME: home } });
    const run = await shell.run("type -t make; make --version");
    expect(run.output).toMatch(/^function\n.*autoload: not a shell builtin$/);
    expect(run.end).toEqual({ kind: "finished", exitCode: 1 });
  });

  test("a start-up file that reads input, prints a prompt or fails does not stop the shell [RC-21]", async () => {
    const home = folder();
    writeFileSync(
      join(home, ".bashrc"),
      "read -t 1 line; PS1='rc> '; PROMPT_COMMAND='echo pc'; alias printf='echo NO'; set -o vi; cd() { return 1; }\nfalse\n",
    );
    const shell = await open({ rc: "user", env: { HOME: home } });
    expect(brief(await shell.run("echo hi; (exit 4)"))).toEqual(["hi", 4]);
    expect(brief(await shell.run("echo $?"))).toEqual(["4", 0]);
  });

  test("without the option no start-up file is read [RC-21]", async () => {
    const home = folder();
    writeFileSync(join(home, ".bashrc"), "MINE=1\n");
    writeFileSync(join(home, ".inputrc"), "set enable-bracketed-paste on\n");
    const shell = await open({ env: { HOME: home, BASH_ENV: join(home, ".bashrc") } });
    expect(await output(shell, "echo [$MINE]")).toBe("[]");
  });

  test("a function named cd is not called by us [RC-23]", async () => {
    const shell = await open();
    expect(await outputs(shell, "cd(){ echo NO; return 1; }", "true; echo $?")).toEqual(["", "0"]);
  });

  test("an alias named - stays intact [RC-33]", async () => {
    const shell = await open();
    await output(shell, "alias -- -='cd -'");
    expect(await output(shell, "alias -p | tail -1")).toMatch(/^alias -- -='cd -'$/);
  });

  const words = [
    ..."builtin eval printf unset return test cd export set local declare shift trap true echo exit read".split(
      " ",
    ),
    ..."shopt stty command source . : [".split(" "),
    ..."__evsh_begin __evsh_start __evsh_end __evsh_close __evsh_complete LINENO=0".split(" "),
  ];

  test("an alias for any word changes what the user types and nothing of ours [RC-33]", async () => {
    const shell = await open();
    for (const word of words) {
      // Some words cannot be aliases in some bashes; then nothing changes at all.
      await shell.run(`\\alias '${word}=/bin/echo NO' 2>/dev/null`, { timeoutMs: 5_000 });
      for (let i = 0; i < 2; i++) {
        expect(brief(await shell.run("/bin/echo hi", { timeoutMs: 5_000 })), word).toEqual([
          "hi",
          0,
        ]);
        expect(brief(await shell.run("/bin/sh -c 'exit 3'", { timeoutMs: 5_000 })), word).toEqual([
          "",
          3,
        ]);
      }
      expect(brief(await shell.run('/bin/echo "$?"')), word).toEqual(["3", 0]);
      await shell.run(`\\unalias '${word}' 2>/dev/null`);
    }
  });

  test("aliases for all the words at once change nothing of ours [RC-33]", async () => {
    const shell = await open();
    const all = words.map((word) => `'${word}=/bin/echo NO'`).join(" ");
    await shell.run(`\\alias ${all} 2>/dev/null`);
    for (let i = 0; i < 3; i++) {
      expect(brief(await shell.run("/bin/echo hi"))).toEqual(["hi", 0]);
      expect(brief(await shell.run("/bin/sh -c 'exit 3'"))).toEqual(["", 3]);
    }
  });

  test.each("[[ (( { } if then else fi for while do done case esac ! function time".split(" "))(
    "an alias for the reserved word %s changes nothing of ours, or the loss of the shell is said [RC-33]",
    async (word) => {
      const shell = await open({ startTimeoutMs: 300 });
      await shell.run(`\\alias '${word}=/bin/echo NO' 2>/dev/null`);
      const next = await shell.run("/bin/sh -c 'exit 3'").then(brief, (error) => error.code);
      if (next !== "SHELL_LOST") expect(next).toEqual(["", 3]);
      expect(brief(await shell.run("/bin/echo hi"))).toEqual(["hi", 0]);
    },
  );

  const names =
    "printf eval test [ cd export set unset return local shift declare true : echo trap read shopt stty command kill".split(
      " ",
    );

  test.each(names)(
    "a function named %s is the user's and not called by us [RC-23]",
    async (name) => {
      const shell = await open();
      await shell.run(`function ${name} { /bin/echo "NO ${name}"; builtin return 9; }`);
      for (let i = 0; i < 2; i++) {
        expect(brief(await shell.run("/bin/echo hi", { timeoutMs: 5_000 }))).toEqual(["hi", 0]);
        expect(brief(await shell.run("/bin/sh -c 'exit 3'", { timeoutMs: 5_000 }))).toEqual([
          "",
          3,
        ]);
        expect(brief(await shell.run('/bin/echo "$?"', { timeoutMs: 5_000 }))).toEqual(["3", 0]);
      }
      expect(brief(await shell.run(`${name} x ]`))).toEqual([`NO ${name}`, 9]);
    },
  );

  test("a function named builtin: results are right, or the loss of the shell is said and the next is fresh [RC-23]", async () => {
    const shell = await open({ startTimeoutMs: 500 });
    await shell.run('builtin() { /bin/echo "NO builtin"; }', { timeoutMs: 3_000 });
    const next = await shell
      .run("/bin/echo hi", { timeoutMs: 3_000 })
      .then(brief, (error) => error.code);
    if (next !== "SHELL_LOST") expect(next).toEqual(["hi", 0]);
    expect(brief(await shell.run("/bin/echo hi", { timeoutMs: 3_000 }))).toEqual(["hi", 0]);
  });

  test("all functions and aliases may be unset at once [RC-20]", async () => {
    const shell = await open();
    await shell.run("mine=1; unset -f $(compgen -A function); unalias -a", { timeoutMs: 5_000 });
    expect(brief(await shell.run("echo hi $mine; (exit 3)"))).toEqual(["hi 1", 3]);
    expect(brief(await shell.run("echo $?"))).toEqual(["3", 0]);
  });

  test("our functions may be made read-only or be defined anew by the user's snapshot [RC-20]", async () => {
    const shell = await open();
    await shell.run("declare -f > snapshot; readonly -f $(compgen -A function)");
    expect(await output(shell, "echo a")).toBe("a");
    await shell.run(". ./snapshot 2>/dev/null");
    expect(await output(shell, "echo b")).toBe("b");
  });
});

describe("options of bash", () => {
  test("each shopt option leaves results and statuses right [HOOK]", async () => {
    const shell = await open();
    const listed = (await output(shell, "shopt | cut -f1")).split("\n").map((name) => name.trim());
    expect(listed.length).toBeGreaterThan(30);
    for (const name of listed.filter(
      (each) => !["restricted_shell", "login_shell"].includes(each),
    )) {
      for (const flag of ["-s", "-u"]) {
        await shell.run(`shopt ${flag} ${name}`, { timeoutMs: 5_000 });
        const at = `shopt ${flag} ${name}`;
        expect(
          brief(await shell.run("echo 'h*?[x] hi'; (exit 3)", { timeoutMs: 5_000 })),
          at,
        ).toEqual(["h*?[x] hi", 3]);
        expect(brief(await shell.run('echo "$?"', { timeoutMs: 5_000 })), at).toEqual(["3", 0]);
      }
    }
  });

  test("each set option leaves results and statuses right [HOOK]", async () => {
    const shell = await open();
    const listed = (await output(shell, "set -o | cut -f1")).split("\n").map((name) => name.trim());
    expect(listed.length).toBeGreaterThan(20);
    // These end the shell by design, or show what is run; they have tests of their own.
    const others = ["errexit", "onecmd", "xtrace", "verbose"];
    for (const name of listed.filter((each) => !others.includes(each))) {
      for (const flag of ["-o", "+o"]) {
        await shell.run(`set ${flag} ${name}`, { timeoutMs: 5_000 });
        const at = `set ${flag} ${name}`;
        expect(brief(await shell.run("echo hi; (exit 3)", { timeoutMs: 5_000 })), at).toEqual([
          "hi",
          3,
        ]);
        expect(brief(await shell.run('echo "$?"', { timeoutMs: 5_000 })), at).toEqual(["3", 0]);
      }
    }
  });

  test("set -x shows the command and nothing of ours [HOOK]", async () => {
    const shell = await open();
    await shell.run("set -x");
    for (let i = 0; i < 3; i++) expect(await output(shell, "echo hi")).toMatch(/^\++ echo hi\nhi$/);
    expect(await output(shell, "(exit 3)", 3)).toMatch(/^\++ exit 3$/);
    expect(await output(shell, "echo $?")).toMatch(/^\++ echo 3\n3$/);
    expect((await shell.run("for i in 1 2; do :; done")).output).toMatch(
      /^(\++ for i in 1 2\n\++ :\n?){2}$/,
    );
  });

  test("set -x with a trace file of its own changes no result [HOOK]", async () => {
    const shell = await open();
    await output(shell, "exec 9>trace; BASH_XTRACEFD=9; set -x");
    expect(await outputs(shell, "echo hi", "(exit 3)", "echo $?")).toEqual(["hi", "", "3"]);
    expect(await output(shell, "grep -c '^+* echo hi$' trace")).toBe("1");
  });

  test("set -v shows the command as bash does, and nothing of ours [HOOK]", async () => {
    const shell = await open();
    await shell.run("set -v");
    for (let i = 0; i < 3; i++)
      expect(brief(await shell.run("echo hi"))).toEqual(["echo hi\nhi", 0]);
    const run = await shell.run("printf abc; (exit 3)");
    expect(brief(run)).toEqual(["printf abc; (exit 3)\nabc", 3]);
    expect(run.background).toBe("");
    await shell.run("set +v");
    expect(brief(await shell.run("echo hi"))).toEqual(["hi", 0]);
  });

  test("set -a exports nothing of ours [HOOK]", async () => {
    const shell = await open();
    await output(shell, "set -a");
    await output(shell, "mine=1");
    expect(await output(shell, "env | grep -c __evsh", 1)).toBe("0");
    expect(await output(shell, "env | grep ^mine; env | grep -c 'grep -c'", 1)).toBe("mine=1\n0");
  });

  test("no command finds its own text in a variable, and none of ours in its environment [HOOK]", async () => {
    const shell = await open();
    await output(shell, "true needle-one");
    expect(await output(shell, "set | grep -c needle-tw[o]", 1)).toBe("0");
    expect(await output(shell, "env | grep -ic evsh", 1)).toBe("0");
    expect(await output(shell, "export -p | grep -ic evsh", 1)).toBe("0");
  });

  test("$_ , $? and $- are what the command before left [HOOK]", async () => {
    const shell = await open();
    const flags = await output(shell, "echo $-");
    expect(await outputs(shell, "echo a b", 'echo "$_"', "(exit 6)", "echo $?", "echo $-")).toEqual(
      ["a b", "b", "", "6", flags],
    );
    expect(flags).toContain("i");
  });

  test("set -e ends the shell where bash ends, and not elsewhere [DEATH-150]", async () => {
    const shell = await open();
    await output(shell, "set -e");
    const pid = shell.pid;
    await output(shell, "false && true", 1);
    await output(shell, "false || true");
    await output(shell, "if false; then :; fi");
    await output(shell, "! true", 1);
    await output(shell, "false | true");
    expect(shell.pid).toBe(pid);
    expect((await shell.run("echo before; false; echo after")).output).toBe("before");
    expect(brief(await shell.run("echo hi"))).toEqual(["hi", 0]);
    expect(shell.pid).not.toBe(pid);
  });

  test("set -u is no trouble for us [HOOK]", async () => {
    const shell = await open();
    await output(shell, "set -u; unset PS1 PROMPT_COMMAND PWD OLDPWD HOME");
    expect(await outputs(shell, "echo hi", "echo $?", "cd /; echo $PWD")).toEqual(["hi", "0", "/"]);
  });

  test.each(["", " ", "0123456789", "_", "e", "\n", ";", "abcdefghijklmnopqrstuvwxyz", "\\"])(
    "IFS may be %j [HOOK]",
    async (ifs) => {
      const shell = await open();
      await output(shell, `IFS=$'${ifs.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")}'`);
      for (let i = 0; i < 2; i++) {
        expect(await output(shell, "echo hi; (exit 13)", 13)).toBe("hi");
        expect(await output(shell, 'echo "$?"')).toBe("13");
      }
    },
  );

  test("posix mode is no trouble, with functions of any name [HOOK]", async () => {
    const shell = await open();
    await output(shell, "set -o posix; test() { echo NO; }");
    expect(await outputs(shell, "echo hi", "(exit 3)", "echo $?")).toEqual(["hi", "", "3"]);
  });

  test("a restricted shell takes commands, or the loss is said and the next is fresh [HOOK]", async () => {
    const shell = await open({ startTimeoutMs: 500 });
    await shell.run("set -r", { timeoutMs: 3_000 });
    for (let i = 0; i < 2; i++) {
      const next = await shell
        .run("echo hi", { timeoutMs: 3_000 })
        .then(brief, (error) => error.code);
      if (i > 0 || next !== "SHELL_LOST") expect(next).toEqual(["hi", 0]);
    }
  });
});

describe("traps", () => {
  test("a DEBUG trap runs once for each of the user's commands [HOOK]", async () => {
    const shell = await open();
    await shell.run("trap 'echo D' DEBUG");
    expect(await outputs(shell, "echo hi", "echo a; echo b", "x=1", ": # c")).toEqual([
      "D\nhi",
      "D\na\nD\nb",
      "D",
      "D",
    ]);
    await output(shell, "false", 1);
    await shell.run("trap - DEBUG");
    expect(await output(shell, "echo hi")).toBe("hi");
  });

  test("a DEBUG trap prints for the user's commands alone, also with functrace and extdebug [HOOK]", async () => {
    const shell = await open();
    await shell.run("set -T; shopt -s extdebug; f() { :; }; trap 'echo D' DEBUG");
    expect(await outputs(shell, "echo one", "(exit 3)", "f")).toEqual(["D\none", "D", "D\nD\nD"]);
    expect(await output(shell, "echo $?")).toBe("D\n0");
  });

  test("an ERR trap runs once where bash runs it [HOOK]", async () => {
    const shell = await open();
    await shell.run("trap 'echo E' ERR");
    expect(await output(shell, "false", 1)).toBe("E");
    expect(await output(shell, "false; true")).toBe("E");
    expect(await output(shell, "false && true", 1)).toBe("");
    expect(await output(shell, "false || true")).toBe("");
    expect(await output(shell, "(exit 3)", 3)).toBe("E");
    expect(await output(shell, "echo hi")).toBe("hi");
    expect(await output(shell, "cat <<E\nx\nE\nfalse", 1)).toBe("x\nE");
  });

  test("an EXIT trap's output belongs to the command that ends the shell [DEATH]", async () => {
    const shell = await open();
    await shell.run("trap 'echo bye' EXIT");
    expect(await output(shell, "echo hi")).toBe("hi");
    const run = await shell.run("echo last; exit 5");
    expect(run.output).toBe("last\nbye");
    expect(run.end).toEqual({ kind: "shellExited", exitCode: 5, signal: null });
  });

  test("RETURN, INT, CHLD and WINCH traps print nothing of their own accord [HOOK]", async () => {
    const shell = await open();
    await shell.run("set -T; trap 'echo R' RETURN");
    expect(await outputs(shell, "echo hi", "f() { :; }; f")).toEqual(["hi", "R"]);
    await shell.run("trap - RETURN; trap 'echo I' INT; trap 'echo W' WINCH");
    expect(await output(shell, "echo hi")).toBe("hi");
  });
});

describe("descriptors", () => {
  test("exec >file sends output there, and the shell goes on [MARK]", async () => {
    const shell = await open();
    await output(shell, "exec >out");
    expect(await output(shell, "echo hi; echo err >&2")).toBe("err");
    await output(shell, "(exit 4)", 4);
    await output(shell, "exec >/dev/tty");
    expect(await outputs(shell, "cat out", "echo back")).toEqual(["hi", "back"]);
  });

  test.each([
    "exec 2>&-",
    "exec 2>err",
    "exec >&- 2>&-",
    "exec >out 2>&1",
    "exec 2>/dev/null",
    "exec 3>&1 4>&2",
    "exec 255>&-",
    "exec 2>&1 | cat",
  ])("statuses and ends are right after %s [MARK]", async (command) => {
    const shell = await open();
    await shell.run(command, { timeoutMs: 5_000 });
    for (let i = 0; i < 3; i++) {
      const run = await shell.run("echo hi >/dev/tty; (exit 3)", { timeoutMs: 5_000 });
      expect(brief(run)).toEqual(["hi", 3]);
      expect(run.background).toBe("");
      expect(brief(await shell.run("[ $? = 3 ]", { timeoutMs: 5_000 }))).toEqual(["", 0]);
    }
    await shell.run("exec >/dev/tty 2>&1");
    expect(await outputs(shell, "echo back", "echo err >&2")).toEqual(["back", "err"]);
  });

  test("a shell whose input is replaced ends, as any bash, and the next is fresh [DEATH]", async () => {
    const shell = await open();
    const run = await shell.run("exec </dev/null", { timeoutMs: 5_000 });
    expect(["shellExited", "finished"]).toContain(run.end.kind);
    const next = await shell.run("echo hi", { timeoutMs: 5_000 });
    if (next.end.kind === "finished") expect(next.output).toBe("hi");
    else expect(next.end.kind).toBe("shellExited");
    expect(brief(await shell.run("echo hi"))).toEqual(["hi", 0]);
  });
});

describe("terminal modes", () => {
  const text = "Abc éß中👍 A~{}";

  test.each([
    ...[
      "-echo",
      "raw",
      "sane",
      "cbreak",
      "-icanon",
      "-icrnl",
      "igncr",
      "-isig",
      "noflsh",
      "tostop",
      "-iexten",
      "echoctl",
    ],
    ...[
      "inlcr",
      "eof a",
      "eol a",
      "eol2 A",
      "intr a",
      "erase a",
      "kill a",
      "quit a",
      "susp a",
      "werase a",
      "lnext a",
      "rprnt a",
      "start a stop b",
      "discard a",
    ],
    ...[
      "cols 20",
      "cols 1 rows 1",
      "cols 0 rows 0",
      "opost onlcr",

      "-ixon ixany",
      "parmrk",
      "istrip",
      "iuclc",
      "-iutf8",
    ],
  ])("after stty %s the next commands are right [EMU-77]", async (mode) => {
    const shell = await open({ startTimeoutMs: 400 });
    const first = await shell.run(`stty ${mode}; echo hi`, { timeoutMs: 5_000 });
    if (!/olcuc/.test(mode)) expect(brief(first)).toEqual(["hi", 0]);
    for (let i = 0; i < 2; i++) {
      const run = await shell.run(`echo '${text}'; (exit 3)`, { timeoutMs: 8_000 });
      expect(run.output).toBe(text);
      expect(run.end).toEqual({ kind: "finished", exitCode: 3 });
      expect(run.background).toBe("");
    }
    await shell.run("stty sane");
    expect(brief(await shell.run("echo there"))).toEqual(["there", 0]);
  });

  test("stty raw makes no staircase [EMU-77]", async () => {
    const shell = await open();
    expect(await outputs(shell, "stty raw; echo hi; echo ho", "echo there; seq 2")).toEqual([
      "hi\nho",
      "there\n1\n2",
    ]);
  });
});
