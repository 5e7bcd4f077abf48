/**
 * What a shell does, in a way that is the same on every runtime: prints one line a case, without times and process
 * ids, so that the outputs of two runtimes can be compared. It knows no runtime, only the entries that it is given:
 * `RUNTIME smoke.mjs [ENTRY TOOLS]`, the paths of two modules; by default those of the package.
 */

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";

const [, , entry, tools] = process.argv;
const { EvershellError, openShell, openTerminal } = await import(
  entry === undefined ? "evershell" : pathToFileURL(entry).href
);
const { createTools } = await import(
  tools === undefined ? "evershell/tools" : pathToFileURL(tools).href
);

const folder = realpathSync(mkdtempSync(join(tmpdir(), "smoke-")));
const shell = await openShell({ cwd: folder });

/** What is the same wherever and whenever it runs. */
function print(name, value) {
  const text = JSON.stringify(value, (_, each) => (each instanceof Error ? codeOf(each) : each));
  console.log(`${name}: ${text.replaceAll(folder, "<folder>")}`);
}

function codeOf(error) {
  if (!(error instanceof EvershellError)) throw error;
  return error.code;
}

function brief({ output, end, background }) {
  return {
    output: output.replace(/^\[1\] \d+$/m, "[1] <pid>"),
    end,
    ...(background !== "" && { background }),
  };
}

async function run(name, command, options) {
  const result = await shell.run(command, options).catch(codeOf);
  print(name, typeof result === "string" ? result : brief(result));
  return result;
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function lives(pid) {
  try {
    return !execFileSync("ps", ["-o", "state=", "-p", String(pid)], {
      encoding: "utf8",
    }).startsWith("Z");
  } catch {
    return false;
  }
}

async function ended(pid) {
  for (let look = 0; look < 100 && lives(pid); look++) await pause(20);
  return !lives(pid);
}

await run("a word", "echo hello");
await run("no newline", "printf abc");
await run("nothing", ":");
await run("empty lines", "echo; echo a; echo");
await run("stderr", "echo out; echo err >&2");
await run("exit code", "(exit 7)");
await run("false", "false");
await run("not found", "no-such-program-here 2>/dev/null");
await run("killed child", "sh -c 'kill -9 $$' 2>/dev/null; echo $?");
await run("state 1", "A=1; f() { echo f $1; }; export B=2; cd /usr; set -f");
await run("state 2", "echo $A $B $PWD *; f x; set +f");
await run("back", `cd ${folder}; pwd`);
await run("heredoc", "cat <<'EOF'\n$HOME \\ 'quoted'\n\ttab\nEOF");
await run("open quote", "echo 'two\nlines' \"and\nmore\"");
await run("comment", "echo a # b\n# c");
await run("syntax error", "echo ok; )");
await run("continued", "echo one \\\n two");
await run("unicode", "printf '%s\\n' 'äöü 中文 👍 e\u0301'");
await run("bytes", "printf 'a\\377b\\000c\\tz\\n'");
await run("colours", "printf '\\e[31mred\\e[0m plain\\n'");
await run("painted", "printf '12345\\r67\\n'; printf '\\e[2J\\e[Hclean\\n'");
await run("long line", "printf 'x%.0s' {1..5000} | wc -c; printf 'y%.0s' {1..3000}");
await run(
  "terminal",
  "test -t 0 && test -t 1 && test -t 2 && stty size && ls /proc/$$/fd 2>/dev/null | tr '\\n' ' '",
);
await run("stdin is empty", "cat </dev/null; wc -c </dev/null");
await run("loop", "for i in 1 2 3; do echo $i; done | tac");
await run("background", "{ sleep 0.2; echo later; } 2>/dev/null & disown; echo now");
await pause(500);
await run("background told", "echo next");
await run("refused", "");
await run("a NUL", "echo a\0b");
await run("bad option", "echo", { timeoutMs: 0 });

const waiting = await run("waits", "read -p 'name? ' name; echo hello $name");
if (waiting.end?.kind === "waiting") {
  await shell.write("Ada\n");
  print("answered", brief(await shell.wait()));
}
await run("password", "read -sp 'password: ' word; echo; echo $word");
await shell.write("secret\n");
print("answered unseen", brief(await shell.wait()));
await run("python waits", "python3 -c 'print(\"got\", input())'");
await shell.write({ keys: ["x", "Enter"] });
print("python answered", brief(await shell.wait()));

await run("runs on", "echo so far; sleep 0.7; echo done", { waitMs: 200 });
await run("busy", "echo no");
print("waited", brief(await shell.wait()));
await run("runs until interrupted", "sleep 100", { waitMs: 100 });
await shell.interrupt();
print("interrupted", brief(await shell.wait()));
await run("trap", "trap 'echo caught' INT; sleep 100; echo $?", { waitMs: 200 });
await shell.interrupt();
print("not for the trap of bash", brief(await shell.wait()));
await run("untrap", "trap - INT");
await run("terminated", "sleep 100", { waitMs: 200 });
print("signal", await shell.signal("SIGTERM"));
print("after the signal", brief(await shell.wait()));

await run("kept", "C=1");
await run("kept after a timeout", "sleep 100", { timeoutMs: 200, onTimeout: "interrupt" });
await run("still there", "echo $C");
await run("reset by a timeout", "echo so far; sleep 100", { timeoutMs: 200 });
await run("fresh", "echo [$C]; pwd");
const aborted = AbortSignal.timeout(200);
await run("aborted", "sleep 100", { signal: aborted });
await run("ends the shell", "echo bye; exit 3");
await run("killed shell", "kill -9 $$");
await run("lives again", "echo back");

let lost = 0;
for (let number = 0; number < 200; number++) {
  const { output, end } = await shell.run(`echo ${number}; (exit ${number % 7})`);
  if (output !== String(number) || end.exitCode !== number % 7) lost++;
}
print("200 commands, lost", lost);
const many = await Promise.all(
  Array.from({ length: 50 }, (_, number) => shell.run(`echo ${number}`)),
);
print(
  "queued in order",
  many.every(({ output }, number) => output === String(number)),
);

const big = await shell.run("seq 1 1000000", { maxOutputChars: 1000, keep: "both" });
const { shownChars, totalChars, spillPath } = big.clip;
print("big output", [big.output.slice(0, 8), big.output.slice(-8), shownChars, totalChars]);
const spilled = readFileSync(spillPath, "utf8");
print("spilled", [
  spilled.length,
  spilled.startsWith("1\n2\n"),
  spilled.trimEnd().endsWith("\n1000000"),
]);
let [streamed, pieces] = [0, 0];
await shell.run("seq 1 300000", {
  onOutput: (text) => {
    streamed += text.length;
    pieces++;
  },
});
print("streamed", [streamed, pieces > 1]);
const command = `: '${"x".repeat(500_000)}'; echo long`;
const long = await shell.run(command);
print("a long command", [long.output, long.end]);
const echo = await shell.run(`wc -c <<'EOF'\n${"line of input\n".repeat(50_000)}EOF`);
print("a long heredoc", [echo.output, echo.end]);

shell.resize(100, 33);
await run("resized", "stty size");
print("screen", shell.screen().lines.length);

const left = await shell.run(
  "setsid -f sleep 1000; sleep 1001 & disown; echo $!; pgrep -n -f 'sleep 1000$'",
);
const { pid } = shell;
await shell.close();
const pids = left.output
  .split("\n")
  .filter((line) => /^\d+$/.test(line))
  .map(Number);
print("left over", [pids.length, await Promise.all([...pids, pid].map(ended))]);
await run("closed", "echo no");

const several = await Promise.all(Array.from({ length: 5 }, () => openShell({ cwd: "/" })));
const answers = await Promise.all(
  several.map((each, number) => each.run(`cd /tmp; echo ${number}`)),
);
print(
  "several shells",
  answers.map(({ output }) => output),
);
await Promise.all(several.map((each) => each.close()));

const terminal = await openTerminal({ argv: ["cat"], cwd: folder });
print("terminal", (await terminal.send("typed\n")).output);
await terminal.close();
print("terminal ended", await terminal.exited);

const { all, bash, bashOnce, dispose } = createTools({ tools: "both" });
const context = { owner: "somebody", cwd: "/" };
print(
  "tools",
  all.map(({ name }) => name),
);
for (const command of ["cd /usr; A=1", "echo $PWD $A", "exit 4"]) {
  print("bash", (await bash.execute({ command }, context)).text);
  print("bash once", (await bashOnce.execute({ command, description: "Try" }, context)).text);
}
await dispose();

for (const [name, options] of [
  ["no folder", { cwd: join(folder, "none") }],
  ["no bash", { bash: "no-such-bash" }],
  ["no option", { cols: 0 }],
]) {
  print(name, await openShell(options).then(() => "opened", codeOf));
}

rmSync(folder, { recursive: true });
console.log("end");
