/**
 * The benchmark: `npm run bench -- [--quick] [--json] [--only NAME]…`.
 *
 * Each figure compares the shell with something else that is measured in turns with it, in the same run.
 * The exit status is 0 whether or not the targets hold. `npm run --silent bench -- --json` leaves out npm's
 * own heading, so that stdout is one JSON document.
 */

import { parseArgs } from "node:util";
import { asJson, asTable } from "./report.ts";
import type { Benchmark, Effort, Row } from "./row.ts";
import { commandSize } from "./rows/command-size.ts";
import { opening, trueBuiltin, trueProgram } from "./rows/commands.ts";
import { idle, memory } from "./rows/memory.ts";
import { progress, seq, yes } from "./rows/throughput.ts";
import { manyOwners, mcp, oneShot, tool } from "./rows/tools.ts";

const BENCHMARKS: readonly Benchmark[] = [
  trueBuiltin,
  trueProgram,
  opening,
  tool,
  mcp,
  manyOwners,
  oneShot,
  seq,
  yes,
  progress,
  commandSize,
  memory,
  idle,
];

const USAGE = `usage: npm run bench -- [--quick] [--json] [--only NAME]...
names: ${BENCHMARKS.map(({ name }) => name).join(", ")}`;

interface Request {
  readonly benchmarks: readonly Benchmark[];
  readonly effort: Effort;
  readonly json: boolean;
}

/** @throws {Error} if the arguments make no sense */
function parse(args: readonly string[]): Request {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      only: { type: "string", multiple: true, default: BENCHMARKS.map(({ name }) => name) },
    },
  });
  const benchmarks = values.only.map((only) => {
    const found = BENCHMARKS.find(({ name }) => name === only);
    if (found === undefined) throw new Error(`there is no benchmark ${JSON.stringify(only)}`);
    return found;
  });
  return { benchmarks, effort: values.quick ? "quick" : "full", json: values.json };
}

async function measureAll({ benchmarks, effort }: Request): Promise<Row[]> {
  const rows: Row[] = [];
  for (const { name, measure } of benchmarks) {
    process.stderr.write(`bench: ${name}\n`);
    rows.push(...(await measure(effort)));
  }
  return rows;
}

function requested(): Request {
  try {
    return parse(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n${USAGE}\n`);
    process.exit(2);
  }
}

const request = requested();
const rows = await measureAll(request);
console.log(request.json ? asJson(rows, request.effort) : asTable(rows));
