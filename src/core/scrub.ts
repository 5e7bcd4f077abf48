/** Secrets of the host's environment, which are not handed to commands: told by name, or by value. */

/** What a host can say about it. A name may have `*` for any characters. */
export interface ScrubOptions {
  /** Variables that commands get whatever their names. */
  readonly allow?: readonly string[] | undefined;
  /** Variables that they do not get, besides those that are recognized; these win. */
  readonly deny?: readonly string[] | undefined;
}

/** Words that make a name that of a secret, wherever they stand. */
const SECRET_WORDS: ReadonlySet<string> = new Set([
  "APIKEY",
  "AUTHORIZATION",
  "AUTHTOKEN",
  "BEARER",
  "COOKIE",
  "COOKIES",
  "CREDENTIAL",
  "CREDENTIALS",
  "CREDS",
  "JWT",
  "PRIVATEKEY",
  "SECRET",
  "SECRETS",
  "SECRETKEY",
  "SSHPASS",
  "TOKEN",
]);

/** And so does a word that ends like this: `PGPASSWORD`. */
const PASSWORD = /PASS(?:WORDS?|WD|PHRASE)$/;

/** Words that do so at the end of a name of several: `GITHUB_PAT`, `MYSQL_PWD`, but not `PWD`, `KEY_REPEAT`. */
const SECRET_ENDINGS: ReadonlySet<string> = new Set([
  "AUTH",
  "DSN",
  "KEY",
  "KEYS",
  "PASS",
  "PAT",
  "PIN",
  "PWD",
]);

/** Names that end so, and tell nothing that is secret. */
const HARMLESS = /(?:^|_)(?:OLDPWD|PUBLIC_KEYS?|HOST_KEYS?|PRIMARY_KEY|FOREIGN_KEY|SORT_KEY)$/;

/** The pair of words of `AWS_ACCESS_KEY_ID` and the like. */
const KEY_ID = /(?:^|_)(?:API|ACCESS|SECRET|PRIVATE)_KEY_/;

/** A URL with a password in it; a private key. */
const SECRET_VALUE =
  /\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:[^\s/@]+@|-----BEGIN [A-Z ]*PRIVATE KEY-----/i;

/** The environment without its secrets; null leaves it as it is. */
export function scrub(
  host: Readonly<Record<string, string | undefined>>,
  options: ScrubOptions | null,
): Readonly<Record<string, string | undefined>> {
  if (options === null) return host;
  const { allow = [], deny = [] } = options;
  const allowed = matcherOf(allow);
  const denied = matcherOf(deny);
  return Object.fromEntries(
    Object.entries(host).filter(
      ([name, value = ""]) => !denied(name) && (allowed(name) || !isSecret(name, value)),
    ),
  );
}

/** Whether a variable is recognized as a secret. */
export function isSecret(name: string, value: string): boolean {
  const words = wordsOf(name);
  const joined = words.join("_");
  const last = words.at(-1) ?? "";
  return (
    words.some((word) => SECRET_WORDS.has(word) || PASSWORD.test(word)) ||
    (words.length > 1 && SECRET_ENDINGS.has(last) && !HARMLESS.test(joined)) ||
    KEY_ID.test(joined) ||
    SECRET_VALUE.test(value)
  );
}

/** `npm_config__authToken` is NPM, CONFIG, AUTH, TOKEN. */
function wordsOf(name: string): string[] {
  const parted = name.replace(/([a-z0-9])([A-Z])/g, "$1_$2");
  return parted
    .toUpperCase()
    .split(/[^A-Z0-9]+/)
    .filter(Boolean);
}

function matcherOf(patterns: readonly string[]): (name: string) => boolean {
  if (patterns.length === 0) return () => false;
  const escaped = patterns.map((pattern) =>
    pattern.replace(/[.+?^${}()|[\]\\]/g, "\\$&").replaceAll("*", ".*"),
  );
  const all = new RegExp(`^(?:${escaped.join("|")})$`);
  return (name) => all.test(name);
}
