import { describe, expect, test } from "vitest";
import { shellEnvironment } from "../../src/core/environment.ts";

const LOCALE = "C.UTF-8";
const none = shellEnvironment({}, LOCALE, {});

describe("a shell's environment", () => {
  test("has a terminal, a locale, and neither pager nor editor", () => {
    expect(none).toEqual({
      TERM: "xterm-256color",
      LANG: LOCALE,
      PAGER: "cat",
      GIT_PAGER: "cat",
      MANPAGER: "cat",
      SYSTEMD_PAGER: "",
      EDITOR: "true",
      VISUAL: "true",
      GIT_EDITOR: "true",
      HISTFILE: "",
    });
  });

  test("has what the host has", () => {
    expect(shellEnvironment({ PATH: "/bin", HOME: "/h", X: "" }, LOCALE, {})).toEqual({
      ...none,
      PATH: "/bin",
      HOME: "/h",
      X: "",
    });
  });

  test.each(["TERM", "PAGER", "EDITOR", "GIT_PAGER"])("does not take %s of the host", (name) => {
    expect(shellEnvironment({ [name]: "dumb" }, LOCALE, {})).toEqual(none);
  });

  test.each([
    "TMOUT",
    "SHELLOPTS",
    "BASHOPTS",
    "PROMPT_COMMAND",
    "PS0",
    "PS1",
    "PS2",
    "PS3",
    "PS4",
    "BASH_ENV",
    "ENV",
    "POSIXLY_CORRECT",
    "MAILCHECK",
    "BASH_XTRACEFD",
    "CDPATH",
    "HISTFILE",
    "COLUMNS",
    "LINES",
    "SHLVL",
    "OLDPWD",
    "TMUX",
    "TMUX_PANE",
    "BASH_FUNC___evsh_start%%",
    "BASH_FUNC___evsh_end()",
  ])("loses %s, which would change how the shell behaves", (name) => {
    expect(shellEnvironment({ [name]: "x" }, LOCALE, {})).toEqual(none);
  });

  test.each(["BASH_FUNC_mine%%", "PS10", "MYPS1", "ENVIRONMENT"])("keeps %s", (name) => {
    expect(shellEnvironment({ [name]: "x" }, LOCALE, {})).toEqual({ ...none, [name]: "x" });
  });

  test("takes what the caller sets, whatever it is", () => {
    const overrides = { TERM: "dumb", TMOUT: "5", PAGER: "less", NEW: "1" };
    expect(shellEnvironment({ NEW: "0" }, LOCALE, overrides)).toEqual({ ...none, ...overrides });
  });

  test("loses what the caller removes", () => {
    const result = shellEnvironment({ A: "1", B: "2" }, LOCALE, { A: undefined, PAGER: undefined });
    expect(result).not.toHaveProperty("A");
    expect(result).not.toHaveProperty("PAGER");
    expect(result).toHaveProperty("B", "2");
  });

  test("skips what the host has as undefined", () => {
    expect(shellEnvironment({ A: undefined }, LOCALE, {})).toEqual(none);
  });

  test.each(["LC_ALL", "LC_CTYPE", "LANG"])("keeps the host's locale in %s", (name) => {
    const { LANG, ...others } = none;
    expect(LANG).toBe(LOCALE);
    expect(shellEnvironment({ [name]: "de_DE.UTF-8" }, LOCALE, {})).toEqual({
      ...others,
      [name]: "de_DE.UTF-8",
    });
  });

  test("gets a locale where the host's is empty", () => {
    expect(shellEnvironment({ LC_ALL: "", LANG: "" }, LOCALE, {})).toMatchObject({ LANG: LOCALE });
  });
});
