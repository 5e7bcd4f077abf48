/** The findings as a table for people, or as JSON for machines. */

import { execFileSync } from "node:child_process";
import { availableParallelism } from "node:os";
import type { Effort, Raw, Row } from "./row.ts";

/** One document with all rows, and what they were measured on. */
export function asJson(rows: readonly Row[], effort: Effort): string {
  const { version: node, platform, arch } = process;
  const machine = { node, bash: bashVersion(), platform, arch, cpus: availableParallelism() };
  return JSON.stringify({ effort, machine, missed: missed(rows), rows }, null, 2);
}

/** Columns under a heading, and a line that says whether all targets hold. */
export function asTable(rows: readonly Row[]): string {
  const cells = [["", "value", "target", "", "of what"], ...rows.map(cellsOf)];
  const widths = cells[0]?.map((_, column) =>
    Math.max(...cells.map((row) => row[column]?.length ?? 0)),
  );
  const lines = cells.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths?.[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  return [...lines, "", verdict(rows)].join("\n");
}

function cellsOf(row: Row): string[] {
  const unit = row.unit === "ratio" ? "" : ` ${row.unit}`;
  return [
    row.name,
    `${figure(row.value)}${unit}`,
    row.target === null ? "" : `≤ ${row.target}${unit}`,
    row.holds === null ? "" : row.holds ? "holds" : "MISSED",
    `${row.what} (${row.raw.map(amount).join(row.unit === "ratio" ? " ÷ " : " → ")})`,
  ];
}

function verdict(rows: readonly Row[]): string {
  const names = missed(rows);
  return names.length === 0 ? "All targets hold." : `Targets missed: ${names.join("; ")}.`;
}

function missed(rows: readonly Row[]): string[] {
  return rows.filter(({ holds }) => holds === false).map(({ name }) => name);
}

function amount({ value, unit }: Raw): string {
  return `${figure(value)} ${unit}`;
}

/** Three significant digits, never in exponents. */
function figure(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}

function bashVersion(): string {
  return execFileSync("bash", ["-c", 'printf %s "$BASH_VERSION"'], { encoding: "utf8" });
}
