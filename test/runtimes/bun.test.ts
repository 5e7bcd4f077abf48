import { expect, test } from "vitest";
import { consumer, finished, programOf } from "./support.ts";

const bun = programOf("bun");

test("terminals on Bun keep what the contract promises", async () => {
  const told = await finished(
    bun,
    ["test", "--timeout", "30000", "./test/contract/bun.contract.ts"],
    { limitMs: 240_000 },
  );
  expect(told).toMatch(/^ *\d{3,} pass\n *0 fail$/m);
}, 250_000);

test("a shell on Bun does what it does on Node.js", async () => {
  const cwd = consumer();
  const [onNode, onBun] = [
    await finished(process.execPath, ["smoke.mjs"], { cwd }),
    await finished(bun, ["smoke.mjs"], { cwd }),
  ];
  expect(onBun).toBe(onNode);
  expect(onBun).toMatch(/\nend\n$/);
}, 130_000);

test("the program runs on Bun, in a shell of Bun", async () => {
  const commands = ["cd /tmp", "A=1", "echo $PWD $A; ps -o comm= -p $PPID"];
  expect(await finished(bun, ["dist/cli.js", "run", ...commands])).toBe("/tmp 1\nbun\n");
});
