/** The environment that a shell starts with: that of the host, made fit for a terminal nobody looks at. */

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string>>;

/** What would make the shell log out, trace, read files, check mail or print prompts of its own. */
const REMOVED: readonly string[] = [
  "BASHOPTS",
  "BASH_ENV",
  "BASH_XTRACEFD",
  "CDPATH",
  "COLUMNS",
  "ENV",
  "LINES",
  "MAILCHECK",
  "OLDPWD",
  "POSIXLY_CORRECT",
  "PROMPT_COMMAND",
  "PS0",
  "PS1",
  "PS2",
  "PS3",
  "PS4",
  "SHELLOPTS",
  "SHLVL",
  "TERMCAP",
  "TMOUT",
  "TMUX",
  "TMUX_PANE",
];

/** An exported function of ours, from a shell around this one. */
const OUR_FUNCTION = /^BASH_FUNC___evsh_/;

/** No program is to wait for somebody to page or edit. `true` accepts what an editor would show. */
const SET: Environment = {
  // Not unset: bash would read and write its default file.
  HISTFILE: "",
  TERM: "xterm-256color",
  PAGER: "cat",
  GIT_PAGER: "cat",
  MANPAGER: "cat",
  SYSTEMD_PAGER: "",
  EDITOR: "true",
  VISUAL: "true",
  GIT_EDITOR: "true",
};

/** The same for a bash on another machine, whose own environment is not known here; its history is off by then. */
const { HISTFILE: _, ...FAR_SET } = SET;
export const FAR_VARIABLES: Environment = FAR_SET;
export const FAR_UNSET: readonly string[] = [
  "CDPATH",
  "MAILCHECK",
  "OLDPWD",
  "POSIXLY_CORRECT",
  "PROMPT_COMMAND",
  "PS0",
  "PS3",
  "TMOUT",
  "TMUX",
  "TMUX_PANE",
];

/** The host's own environment, for a program that leads to another machine. */
export function hostEnvironment(
  host: Readonly<Record<string, string | undefined>>,
  overrides: Readonly<Record<string, string | undefined>> = {},
): Environment {
  return defined({ ...host, TERM: SET.TERM, ...overrides });
}

/** No program is to colour its output for a terminal that is none, or to wait for somebody to page. */
const SET_ON_PIPES: Environment = { NO_COLOR: "1", TERM: "dumb", PAGER: "cat", GIT_PAGER: "cat" };

/** The environment of a command on pipes. The parameters are those of `shellEnvironment`. */
export function pipeEnvironment(
  host: Readonly<Record<string, string | undefined>>,
  locale: string,
  overrides: Readonly<Record<string, string | undefined>>,
): Environment {
  return defined({ ...inherited(host), ...SET_ON_PIPES, ...localeOf(host, locale), ...overrides });
}

/**
 * @param host the host's own environment, without its secrets
 * @param locale a UTF-8 locale of this system, used where the host sets no locale at all
 * @param overrides win over everything; `undefined` removes a variable
 */
export function shellEnvironment(
  host: Readonly<Record<string, string | undefined>>,
  locale: string,
  overrides: Readonly<Record<string, string | undefined>>,
): Environment {
  return defined({ ...inherited(host), ...SET, ...localeOf(host, locale), ...overrides });
}

function inherited(
  host: Readonly<Record<string, string | undefined>>,
): Record<string, string | undefined> {
  const kept = Object.entries(host).filter(
    ([name]) => !REMOVED.includes(name) && !OUR_FUNCTION.test(name),
  );
  return Object.fromEntries(kept);
}

function defined(all: Readonly<Record<string, string | undefined>>): Environment {
  return Object.fromEntries(
    Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

function localeOf(host: Readonly<Record<string, string | undefined>>, locale: string): Environment {
  const isSet = host.LC_ALL || host.LC_CTYPE || host.LANG;
  return isSet ? {} : { LANG: locale };
}

/** Names the terminals that a process was started in, from the outermost to the innermost. */
const TAG_VARIABLE = "EVERSHELL_ID";

/** The environment of one terminal: whatever is started there inherits its tag (`PtyRequest.tag`). */
export function taggedEnvironment(
  env: Environment,
  tag: string,
): { readonly env: Environment; readonly tag: string } {
  const outer = env[TAG_VARIABLE];
  return { env: { ...env, [TAG_VARIABLE]: outer ? `${outer}:${tag}` : tag }, tag };
}
