/** Which variables of the host are secrets: a table of names that go, and of names that stay. */

import { expect, test } from "vitest";
import { scrub } from "../../src/core/scrub.ts";

/** The names that are left of these. */
function kept(
  host: Readonly<Record<string, string>>,
  options: Parameters<typeof scrub>[1] = {},
): string[] {
  return Object.keys(scrub(host, options));
}

function named(...names: string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, "x"]));
}

test.each([
  "API_KEY",
  "FOO_API_KEY",
  "APIKEY",
  "OPENAI_API_KEY",
  "apiKey",
  "openaiApiKey",
  "API_KEY_2",
  "AWS_ACCESS_KEY_ID",
  "AWS_SECRET_ACCESS_KEY",
  "AWS_SESSION_TOKEN",
  "SSH_PRIVATE_KEY",
  "PRIVATE_KEY",
  "SIGNING_KEYS",
  "SECRET",
  "SECRET_KEY_BASE",
  "CLIENT_SECRETS",
  "TOKEN",
  "GITHUB_TOKEN",
  "token",
  "GITHUB_PAT",
  "NPM_TOKEN",
  "npm_config__authToken",
  "npm_config_//registry.npmjs.org/:_authToken",
  "npm_config__auth",
  "NODE_AUTH_TOKEN",
  "REDISCLI_AUTH",
  "DB_PASS",
  "DB_PASSWD",
  "DB_PASSWORD",
  "PASSWORD",
  "PGPASSWORD",
  "MYSQL_PWD",
  "PASSPHRASE",
  "GPG_PASSPHRASE",
  "CARD_PIN",
  "SENTRY_DSN",
  "SERVICE_CREDENTIALS",
  "REGISTRY_CREDS",
  "HTTP_AUTHORIZATION",
  "SESSION_COOKIE",
  "ID_JWT",
  "OPENAI_API_KEY2",
  "DB_PASSWORD1",
  "GH_PAT_2",
  "DB_PASS_PROD",
  "SIGNING_KEY_V2",
  "API_TOKENS",
  "ACCESSTOKEN",
  "CLIENTSECRET",
  "AWSSECRETACCESSKEY",
  "DOCKER_AUTH_CONFIG",
])("%s goes", (name) => {
  expect(kept(named(name, "HOME"))).toEqual(["HOME"]);
});

test.each([
  "MONKEY",
  "GPG_KEY",
  "TOKEN_LIMIT",
  "MAX_TOKEN",
  "PASSWORD_STORE_DIR",
  "NEXT_PUBLIC_STRIPE_KEY",
  "KEYBOARD_LAYOUT",
  "KEY_REPEAT",
  "LESSKEY",
  "GNOME_KEYRING_CONTROL",
  "TOKENIZERS_PARALLELISM",
  "MAX_TOKENS",
  "PWD",
  "OLDPWD",
  "PATH",
  "MANPATH",
  "CLASSPATH",
  "COMPASS_DIR",
  "BYPASS",
  "PASSED",
  "SPIN",
  "PINNED",
  "SSH_AUTH_SOCK",
  "SSH_ASKPASS",
  "GIT_ASKPASS",
  "SSH_AGENT_PID",
  "GIT_AUTHOR_NAME",
  "XAUTHORITY",
  "XDG_SESSION_ID",
  "DBUS_SESSION_BUS_ADDRESS",
  "GPG_TTY",
  "GPG_AGENT_INFO",
  "SECURITYSESSIONID",
  "SECRETARY",
  "HOST_PUBLIC_KEY",
  "PRIMARY_KEY",
  "HOME",
  "LANG",
  "TERM",
  "USER",
])("%s stays", (name) => {
  expect(kept(named(name))).toEqual([name]);
});

test.each([
  ["DATABASE_URL", "postgres://app:hunter2@db.example.org/app"],
  ["REDIS", "redis://:hunter2@localhost:6379"],
  ["AMQP", "amqps://user:p%40ss@host/vhost"],
  ["HTTPS_PROXY", "http://me:hunter2@proxy:3128"],
  ["PIP_INDEX_URL", "see https://user:token@pypi.example.org/simple for more"],
  ["DEPLOY", "-----BEGIN OPENSSH PRIVATE KEY-----\nabc"],
  ["CERT", "-----BEGIN PRIVATE KEY-----\nabc"],
])("%s goes by its value, %j", (name, value) => {
  expect(kept({ [name]: value })).toEqual([]);
});

test.each([
  ["DATABASE_URL", "postgres://db.example.org:5432/app"],
  ["REMOTE", "ssh://git@host:22/repository"],
  ["HTTPS_PROXY", "http://proxy:3128"],
  ["NO_PROXY", "localhost,127.0.0.1,user@host"],
  ["DOCS", "https://example.org/a:b@c"],
  ["CERT", "-----BEGIN CERTIFICATE-----\nabc"],
  ["MIRROR", "http://a:80/x http://b:81/y me@z"],
])("%s stays with the value %j", (name, value) => {
  expect(kept({ [name]: value })).toEqual([name]);
});

test("values are left as they are, and what has none is gone or empty", () => {
  expect(scrub({ A: "1", B: "", MY_TOKEN: "t", NONE: undefined }, {})).toEqual({ A: "1", B: "" });
});

test("null scrubs nothing", () => {
  const host = { API_KEY: "1", A: "2" };
  expect(scrub(host, null)).toEqual(host);
});

test("an allowed name stays, with * for any characters, and only whole names count", () => {
  const host = named("GITHUB_TOKEN", "GITHUB_TOKEN_2", "MY_GITHUB_TOKEN", "HF_TOKEN", "NPM_TOKEN");
  expect(kept(host, { allow: ["GITHUB_TOKEN"] })).toEqual(["GITHUB_TOKEN"]);
  expect(kept(host, { allow: ["GITHUB_*"] })).toEqual(["GITHUB_TOKEN", "GITHUB_TOKEN_2"]);
  expect(kept(host, { allow: ["*_TOKEN"] })).toEqual([
    "GITHUB_TOKEN",
    "MY_GITHUB_TOKEN",
    "HF_TOKEN",
    "NPM_TOKEN",
  ]);
  expect(kept(host, { allow: ["HF_TOKEN", "NPM*"] })).toEqual(["HF_TOKEN", "NPM_TOKEN"]);
  expect(kept(host, { allow: ["*"] })).toEqual(Object.keys(host));
  expect(kept({ URL: "http://a:b@c" }, { allow: ["URL"] })).toEqual(["URL"]);
});

test("a denied name goes, whatever it is", () => {
  const host = named("EDITOR", "CI", "CI_JOB", "MY_CI", "API_KEY");
  expect(kept(host, { deny: ["CI"] })).toEqual(["EDITOR", "CI_JOB", "MY_CI"]);
  expect(kept(host, { deny: ["CI*"] })).toEqual(["EDITOR", "MY_CI"]);
  expect(kept(host, { deny: ["*CI*", "EDITOR"] })).toEqual([]);
  expect(kept(host, { deny: ["*"] })).toEqual([]);
});

test("deny wins over allow", () => {
  const host = named("GITHUB_TOKEN", "GITHUB_PAT", "HOME");
  expect(kept(host, { allow: ["GITHUB_*"], deny: ["GITHUB_PAT"] })).toEqual([
    "GITHUB_TOKEN",
    "HOME",
  ]);
  expect(kept(host, { allow: ["GITHUB_TOKEN", "HOME"], deny: ["*"] })).toEqual([]);
});

test("a pattern is no regular expression", () => {
  const host = named("AXB", "A.B", "A+", "AA", "(A)", "[A]", "A|B", "A\\B", "A$");
  expect(kept(host, { deny: ["A.B", "A+", "(A)", "[A]", "A|B", "A\\B", "A$"] })).toEqual([
    "AXB",
    "AA",
  ]);
});
