/** Secrets of the host's environment, which are not handed to commands: told by name, or by value. */

/** What a host can say about it. A name may have `*` for any characters. */
export interface ScrubOptions {
  /** Variables that commands get whatever their names. */
  readonly allow?: readonly string[] | undefined;
  /** Variables that they do not get, besides those that are recognized; these win. */
  readonly deny?: readonly string[] | undefined;
}

/** A word that makes a name that of a secret, wherever it stands: `DB_PASSWORD`, `PGPASSWORD`, `CLIENTSECRET`. */
const SECRET_WORD =
  /^(?:AUTHORIZATION|BEARER|COOKIES?|CREDENTIALS?|CREDS|JWT|SSHPASS|\w*(?:API|ACCESS|MASTER|PRIVATE|SECRET)KEYS?|\w*PASS(?:WORDS?|WD|PHRASE)|\w*SECRETS?|\w*TOKENS?)$/;

/** Words that do so at the end of a name of several: `GITHUB_PAT`, `MYSQL_PWD`, but not `PWD`, `KEY_REPEAT`. */
const SECRET_ENDING = /^(?:AUTH|DSN|KEYS?|\w*PASS|PAT|PIN|PWD)$/;

/** Programs that ask for one. */
const NO_ENDING = /^(?:\w*ASKPASS|COMPASS|BYPASS)$/;

/** The pair of words of `AWS_ACCESS_KEY_ID` and the like, and of `DOCKER_AUTH_CONFIG`. */
const SECRET_PAIR = /(?:^|_)(?:(?:API|ACCESS|SECRET|PRIVATE)_KEY|AUTH_CONFIG)(?:_|$)/;

/** Names that tell nothing that is secret: where something is, how much of it there may be, what anybody may know. */
const HARMLESS =
  /(?:^|_)(?:OLDPWD|(?:HOST|PRIMARY|FOREIGN|SORT|GPG)_KEYS?|FILE|PATH|DIR|DIRECTORY|HOME|SOCK|LIMIT|COUNT)$|(?:^|_)(?:MAX|MIN|PUBLIC|PUBLISHABLE)(?:_|$)/;

/** Ends that tell one of several apart: `OPENAI_KEY_2`, `DB_PASS_PROD`, `SIGNING_KEY_V2`. */
const DISTINCTION = /^(?:V?\d+|PROD|PRODUCTION|STAGING|STAGE|DEV|TEST)$/;

/** A URL with a password or a token in it; a private key; a connection string; a header. */
const SECRET_VALUE =
  /\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:[^\s@]+@|\bhttps?:\/\/[^\s/@]+@|-----BEGIN [A-Z ]*PRIVATE KEY|\b(?:password|pwd|accountkey|sharedaccesskey)\s*=\s*[^;\s]|\bauthorization:\s*(?:basic|bearer)\s/i;

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
  return hasSecretName(wordsOf(name), value) || SECRET_VALUE.test(value);
}

function hasSecretName(words: readonly string[], value: string): boolean {
  const joined = words.join("_");
  // A path of credentials is no secret itself.
  if (HARMLESS.test(joined) || (/CREDENTIALS$/.test(joined) && value.startsWith("/"))) return false;
  const last = words.at(-1) ?? "";
  return (
    words.some((word) => SECRET_WORD.test(word)) ||
    (words.length > 1 && SECRET_ENDING.test(last) && !NO_ENDING.test(last)) ||
    SECRET_PAIR.test(joined)
  );
}

/** `npm_config__authToken` is NPM, CONFIG, AUTH, TOKEN; `GH_TOKEN1` is GH, TOKEN. */
function wordsOf(name: string): string[] {
  const parted = name.replace(/([a-z0-9])([A-Z])/g, "$1_$2");
  const words = parted
    .toUpperCase()
    .split(/[^A-Z0-9]+/)
    .filter(Boolean);
  while (words.length > 1 && DISTINCTION.test(words.at(-1) as string)) words.pop();
  return words.map((word) => word.replace(/(?<=[A-Z])\d+$/, ""));
}

function matcherOf(patterns: readonly string[]): (name: string) => boolean {
  if (patterns.length === 0) return () => false;
  const escaped = patterns.map((pattern) =>
    pattern.replace(/[.+?^${}()|[\]\\]/g, "\\$&").replaceAll("*", ".*"),
  );
  const all = new RegExp(`^(?:${escaped.join("|")})$`);
  return (name) => all.test(name);
}
