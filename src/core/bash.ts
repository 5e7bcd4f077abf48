/**
 * The bash text that we send: how a shell is started and set up, and a command as lines of input.
 *
 * Everything here runs in bash 3.2 and later. All names begin with `__evsh_`. Each of our words is quoted
 * (`\builtin`) so that no alias changes it, and each piece of ours that runs beside a command stands in
 * `{ …; } >/dev/null 2>&1`, so that `set -x` and DEBUG traps show nothing of it.
 */

import { toBoundary } from "./characters.ts";
import { markInShell } from "./marks.ts";
import { escapeForAnsiC } from "./quoting.ts";

/**
 * Bytes of a command on one line of input. A canonical line holds 4 096 bytes on Linux and 1 024 on macOS
 * (MAX_CANON), and what goes beyond is dropped by the kernel; some 350 are for the words around it.
 */
const MAX_PIECE_BYTES = 640;

/**
 * The program and arguments that become our interactive shell. `--noediting`: without readline a command takes
 * 0.15 ms and may have any length (measured: 0.57 ms with it, and 10 KB hung).
 */
export function startCommand(bash: string): [string, ...string[]] {
  return startThrough(bash, [bash, ...BASH_OPTIONS], SET_TERMINAL);
}

/**
 * The program and arguments that become another program, through a bash that closes every descriptor that the host
 * left open: node-pty leaks those of all earlier terminals.
 */
export function startThrough(
  bash: string,
  argv: readonly string[],
  first = "",
): [string, ...string[]] {
  return [
    bash,
    "--noprofile",
    "--norc",
    "-c",
    `${CLOSE_DESCRIPTORS}${first}exec "$@"`,
    bash,
    ...argv,
  ];
}

/** An interactive bash that reads whole lines, and no files at its start. */
export const BASH_OPTIONS: readonly string[] = ["--noprofile", "--norc", "--noediting", "-i"];

const CLOSE_DESCRIPTORS = `
for __evsh_fd in /dev/fd/*; do
  case \${__evsh_fd##*/} in
    0 | 1 | 2 | *[!0-9]*) ;;
    *) eval "exec \${__evsh_fd##*/}>&-" ;;
  esac
done
`;

/**
 * `-opost`: the kernel's output processing costs 4 to 19 times the throughput (measured: `seq`, `yes`); our screen does
 * the newline instead. `-echoctl`: control characters are echoed as themselves.
 */
const SET_TERMINAL = "stty -opost -echoctl 2>/dev/null\n";

/** Whose start-up files the shell reads: nobody's, or `~/.bashrc` and the system's. */
export type RcFiles = "none" | "user";

/**
 * Defines our functions and the prompt mark, and answers with a `ready` mark. May be sent to a shell that
 * has them already, to make it ours again: the user's prompt and `$?` stay as they are. It is one compound command, so
 * that the shell prompts once.
 *
 * @param far the terminal is another than the one that the shell was started on, and nothing of it can be seen: it is set
 * from within, and the user's prompt keeps our marks while a command runs, so that an interrupt is noticed
 */
export function setUp(nonce: string, rc: RcFiles, far: boolean): string {
  const first = (far ? SET_TERMINAL : "") + (rc === "user" ? READ_RC_FILES : "");
  return `{\n__evsh_outer=$?\n${first}${functions(nonce, far)}\n}\n`;
}

/** Read here rather than by bash itself, with no input that they could eat. */
const READ_RC_FILES = `for __evsh_rc in /etc/bash.bashrc ~/.bashrc; do
[ -r "$__evsh_rc" ] && . "$__evsh_rc" </dev/null
done
unset __evsh_rc
`;

/**
 * Options of the shell (no line of ours is ever kept in a history), and the functions, in the order in which a
 * command meets them:
 *
 * - `begin NUMBER ID STATUS KIND TRACED LENGTH WORD…` takes a command that the line brings. A number that is not
 *   new is a line sent twice, and refused; so is a text that did not arrive whole. It keeps the status that the
 *   command shall see as `$?`, and prints the begin mark where our words may be traced (it costs 25 µs).
 * - `complete TEXT` tells whether the text is complete, by letting bash parse it as the body of a function
 *   behind a `return`: nothing of it can run, whatever it holds.
 * - `start LAST` is the first line of what is evaluated: it takes our traces away and prints the start mark.
 * - `end STATUS LAST` drops lines that were typed for the command and not read, which bash would run, and prints
 *   the end mark. In a complete text it is the last line of what is evaluated: the status of `eval` is then ours
 *   (0), so that `set -e` and ERR traps act on the command alone.
 * - `hush STATUS` stands after the `eval` where a command may have sent the shell's stderr to a file, and keeps our
 *   mark out of that file. Descriptor 9 is a copy of stderr; while that is closed, it does not run.
 * - `close STATUS` prints the end mark if the text did not get that far, and returns the command's status. The
 *   empty `eval` mends bash's parser, which after an unmatched quote misses the next reserved word (5.2).
 * - `away` and `back`: until the next command starts, the prompt stands between our marks, and nothing else is shown
 *   when our lines are read (PS0, PS2, `set -v`, `set -x`). `printf -v` since PS1 may be readonly;
 *   then all that comes until the next command is taken for a prompt.
 */
function functions(nonce: string, far: boolean): string {
  const mark = (fields: string): string => `\\builtin printf '${markInShell(nonce, fields)}'`;
  const prompt = promptMark(nonce);
  return `\\builtin set +H +o history +o emacs +o vi
\\builtin history -c
\\builtin unset -v HISTFILE MAILCHECK TMOUT
HISTIGNORE='*__evsh_*'
__evsh_number=\${__evsh_number:-0} __evsh_ended=1 __evsh_status=0 __evsh_last= __evsh_cwd= __evsh_quiet= __evsh_away=
__evsh_mark='${prompt}' __evsh_mark_start='${markInShell(nonce, "Q;$$")}' __evsh_unset='${prompt} is unset'
__evsh_begin() {
(( $1 > __evsh_number )) || \\builtin return 1
\\builtin printf -v __evsh_text %s "\${@:7}"
[[ $6 == ANY || $6 == "LENGTH:\${#__evsh_text}" ]] || \\builtin return 1
__evsh_number=$1 __evsh_id=$2 __evsh_status=$3 __evsh_kind=$4 __evsh_traced=$5 __evsh_ended= __evsh_outer=
if [[ $__evsh_kind != open && $-$__evsh_away != *v* ]] && \\__evsh_complete "$__evsh_text"; then
__evsh_text="$__evsh_text
{ \\\\__evsh_end \\"\\$?\\" \\"\\\${_-}\\"; } >/dev/null 2>&1"
fi
__evsh_text="{ \\\\__evsh_start \\"\\$__evsh_last\\" && : \\"\\$__evsh_last\\"; } >/dev/null 2>&1
$__evsh_text"
[[ $__evsh_traced == quiet ]] || ${mark("B;%s")} "$__evsh_id" >/dev/tty
}
__evsh_complete() {
if [[ $__evsh_kind == simple ]] && ! \\builtin alias "\${1%% *}"; then \\builtin return 0; fi
\\builtin eval "\\\\builtin return 0; __evsh_body() { :
$1
}"
\\builtin eval :
\\builtin return 1
}
__evsh_start() {
\\builtin unset -v __evsh_text
[[ -z $__evsh_away ]] || \\__evsh_back
[[ $- != *a* ]] || \\builtin export -n ${VARIABLES}
${mark("S;%s")} "$__evsh_id" >/dev/tty
\\builtin return "$__evsh_status"
}
__evsh_end() {
__evsh_status=$1 __evsh_last=$2 __evsh_ended=1 __evsh_dir= __evsh_flags=
if [[ "\${PWD-}" != "$__evsh_cwd" && \${#PWD} -lt 8192 ]]; then
__evsh_cwd=\${PWD-}
\\builtin printf -v __evsh_dir %q "$__evsh_cwd"
fi
[[ -n "\${PROMPT_COMMAND[*]-}" ]] || __evsh_flags=b
if [[ -t 0 ]]; then
while \\builtin read -r -t 0; do \\builtin read -r -t 1 __evsh_dropped || \\builtin break; done
fi
${mark("E;%s;%s;%s;%s")} "$__evsh_id" "$1" "$__evsh_flags" "$__evsh_dir" >/dev/tty
}
__evsh_hush() {
__evsh_outer=$1 __evsh_quiet=1
[[ ! -t 9 ]] || __evsh_quiet=
}
__evsh_close() {
if [[ -z $__evsh_ended ]]; then
\\__evsh_end "$1" "$__evsh_last"
\\builtin eval :
fi
if [[ $- == *[vx]* || "\${PS1-}" != "$__evsh_mark" || -n "\${PS0-}\${PS2-}$__evsh_quiet" ]]; then \\__evsh_away; fi
\\builtin return "$__evsh_status"
}
__evsh_away() {
__evsh_away=$- __evsh_ps0=\${PS0-$__evsh_unset} __evsh_ps1=\${PS1-$__evsh_unset} __evsh_ps2=\${PS2-$__evsh_unset}
\\builtin set +vx
if [[ $__evsh_quiet ]]; then \\builtin printf -v PS1 %s ''
else
__evsh_dir=\${PS1-}
__evsh_dir=\${__evsh_dir//"$__evsh_mark_start"/}
\\builtin printf -v PS1 %s "$__evsh_mark_start\${__evsh_dir//"$__evsh_mark"/}$__evsh_mark"
[[ "\${PS1-}" == *"$__evsh_mark" ]] || ${mark("Q;%s")} "$$" >/dev/tty
fi
\\builtin printf -v PS0 %s ''
\\builtin printf -v PS2 %s ''
}
__evsh_back() {
\\__evsh_restore PS0 "$__evsh_ps0"
${far ? "[[ -z $__evsh_quiet ]] || " : ""}\\__evsh_restore PS1 "$__evsh_ps1"
\\__evsh_restore PS2 "$__evsh_ps2"
[[ $__evsh_away != *x* ]] || \\builtin set -x
[[ $__evsh_away != *v* ]] || \\builtin set -v
__evsh_away=
}
__evsh_restore() {
if [[ $2 == "$__evsh_unset" ]]; then \\builtin unset -v "$1"; else \\builtin printf -v "$1" %s "$2"; fi
}
\\builtin export -n ${VARIABLES}
__evsh_leave() {
\\builtin return "$1"
}
__evsh_dir=\${PS1-}
__evsh_dir=\${__evsh_dir//\\\\n/$'\\n'}
__evsh_dir=\${__evsh_dir//[!$'\\n']/}
__evsh_lines=\${#__evsh_dir}
if (( __evsh_number )); then \\__evsh_away
else
\\builtin printf -v PS2 %s ''
\\builtin printf -v PS1 %s "$__evsh_mark"
fi
${mark("R;%s;%s")} "$$" "$__evsh_lines" >/dev/tty
\\__evsh_leave "$__evsh_outer"`;
}

/**
 * What bash asks for when it reads a command from the terminal: the block size of that, as stdio does. `read` asks for
 * 4 096 bytes or one (measured: bash 5.2 on Linux).
 */
export const PROMPT_READ_BYTES = 1024;

/** None of them reaches the environment of a command. */
const VARIABLES =
  "__evsh_number __evsh_id __evsh_status __evsh_outer __evsh_last __evsh_ended __evsh_cwd __evsh_dir __evsh_flags " +
  "__evsh_kind __evsh_traced __evsh_dropped __evsh_quiet __evsh_mark __evsh_mark_start __evsh_unset __evsh_away __evsh_ps0 __evsh_ps1 __evsh_ps2 __evsh_lines";

/**
 * A check of what arrives: a terminal that is set oddly drops or changes characters (`stty erase A`, `iuclc`). Only of
 * ASCII is the length the same in every locale.
 */
function lengthOf(text: string): string {
  return /^[\0-\x7f]*$/.test(text) ? `LENGTH:${text.length}` : "ANY";
}

/** The prompt that the set-up gives to a shell, written as a value of PS1: a mark, and nothing else. */
export function promptMark(nonce: string): string {
  return markInShell(nonce, "P;$$;$?");
}

/** A command on its way to bash. */
export interface CommandText {
  /** One that passes `checkCommand`. */
  readonly text: string;
  /** Greater than that of every earlier command of this shell. */
  readonly number: number;
  /** The name of the command in its marks. */
  readonly id: string;
  /** The shell's stderr may be, or come to be, another than the terminal. */
  readonly hush: boolean;
  /** A DEBUG trap may print something for our words: a begin mark is to tell when they run. */
  readonly traced: boolean;
}

/**
 * A command as lines that the terminal and bash take whole, whatever it contains. It travels as quoted data
 * and is evaluated from a variable; the words stand apart (`\\` at the end of a line) since bash joins
 * thousands of them in linear time, unlike `v+=…` (measured: 8 MB in 2.5 s).
 */
export function commandLines({ text, number, id, hush, traced }: CommandText): Uint8Array {
  const words = [...pieces(text)].map((piece) => `$'${piece}'`).join(" \\\n");
  // The id at the end is for LateEcho: it tells the echo of this line from all other text.
  return new TextEncoder().encode(
    `{ \\__evsh_begin ${number} ${id} "$?" ${kindOf(text)} ${traced ? "traced" : "quiet"} ${lengthOf(text)} ${words}; } >/dev/null 2>&1 && ` +
      `\\builtin eval -- "$__evsh_text"; ` +
      (hush
        ? `{ \\__evsh_hush "$?"; } 9>&2 >/dev/null 2>&1 || \\:; { \\__evsh_close "\${__evsh_outer:-2}"`
        : `{ \\__evsh_close "$?"`) +
      ` ${id} && :; } >/dev/null 2>&1\n`,
  );
}

/**
 * What can be known of a text without parsing it. `simple`: one command of plain words; unless the first is an
 * alias it is complete, and bash need not be asked (20 µs). `open`: the backslash at its end would take
 * in the line that we put behind it.
 */
function kindOf(text: string): "simple" | "open" | "any" {
  if (PLAIN_WORDS.test(text) && !RESERVED_WORD.test(text)) return "simple";
  return /(?<!\\)(?:\\\\)*\\$/.test(text) ? "open" : "any";
}

const PLAIN_WORDS = /^[\w ./:,+@%-]+$/;
const RESERVED_WORD =
  /(?:^| )(?:if|then|else|elif|fi|case|esac|for|select|while|until|do|done|in|function|time|coproc)(?: |$)/;

/** The line that stands last in what bash evaluates, as `set -v` prints it. */
export const END_LINE = '{ \\__evsh_end "$?" "${_-}"; } >/dev/null 2>&1';

/** The text in escaped pieces that each fit on a line, cut between characters and never in an escape. */
function* pieces(text: string): Generator<string> {
  let at = 0;
  do {
    let length = MAX_PIECE_BYTES;
    let piece = escapeForAnsiC(text.slice(at, toBoundary(text, at + length)));
    while (byteLength(piece) > MAX_PIECE_BYTES) {
      length = Math.floor(length / 2);
      piece = escapeForAnsiC(text.slice(at, toBoundary(text, at + length)));
    }
    yield piece;
    at = toBoundary(text, at + length);
  } while (at < text.length);
}

const encoder = new TextEncoder();

function byteLength(text: string): number {
  return encoder.encode(text).length;
}
