/** The tools for background tasks. They know no shell: whatever a producer registers is read and ended here. */

import * as v from "valibot";
import { milliseconds, text } from "../core/schemas.ts";
import { plainTool } from "./plain-tool.ts";
import { renderProcessRead, statusText } from "./process-task.ts";
import type { TaskInfo, TaskReading, TaskRuntime } from "./tasks.ts";
import { described, type Tool, type ToolContext, type ToolResult, toolParts } from "./tool.ts";

/** How long `wait` waits, unless the call says so. */
const WAIT_MS = 30_000;

const taskId = described(text, "The id of the task.");

const taskSchema = v.object({
  id: v.string(),
  kind: v.string(),
  label: v.string(),
  startedAt: v.string(),
  durationMs: v.number(),
  end: v.nullable(v.looseObject({ status: v.picklist(["completed", "killed", "failed"]) })),
});

const readingSchema = v.object({
  task: taskSchema,
  output: v.object({ text: v.string(), dropped: v.boolean(), spillPath: v.nullable(v.string()) }),
});

/** Makes the tools. */
export function taskTools(tasks: TaskRuntime): Tool[] {
  const admit = ({ owner }: ToolContext): void => void tasks.list(owner);
  return [
    plainTool({
      name: "task_output",
      description:
        "Reads what is new of a background task: each part once, then [status: …]. With wait it waits for the end first; " +
        "when that takes too long it comes back, and the task runs on.",
      parameters: v.object({
        task_id: taskId,
        wait: v.optional(
          described(v.boolean("must be true or false"), "Wait for the end of the task first."),
        ),
        timeout_ms: v.optional(
          described(milliseconds, `How long to wait, in milliseconds. Default ${WAIT_MS}.`),
        ),
      }),
      result: readingSchema,
      admit,
      titleKey: "task_id",
      async act({ task_id, wait = false, timeout_ms = WAIT_MS }, { owner, signal }) {
        const reading = await tasks.read(owner, task_id, wait ? timeout_ms : 0, signal);
        return resultOf(reading);
      },
    }),

    plainTool({
      name: "task_list",
      description: "Lists your background tasks, a line each, the id first.",
      readOnly: true,
      parameters: v.object({}),
      result: v.object({ tasks: v.array(taskSchema) }),
      admit,
      titleKey: "task_id",
      async act(_, { owner }) {
        const all = tasks.list(owner);
        const rows = all.map(
          ({ id, label, end }) => `${id}  [${statusText(end)}]  ${oneLine(label)}`,
        );
        return { value: { tasks: all.map(asData) }, text: rows.join("\n") || "[no tasks]" };
      },
    }),

    plainTool({
      name: "task_kill",
      description:
        "Ends a background task, with everything that it started, and reads what is new of it.",
      parameters: v.object({
        task_id: taskId,
        reason: v.optional(described(text, "Why, in a few words.")),
      }),
      result: readingSchema,
      admit,
      titleKey: "task_id",
      async act({ task_id, reason = "task_kill" }, { owner }) {
        return resultOf(await tasks.kill(owner, task_id, reason));
      },
    }),
  ];
}

/**
 * The tool, whose results also tell of tasks that have ended meanwhile; of each once, unless it was read before. Before
 * the text where that has an end of its own to tell.
 */
export function withNotices<Value extends object>(
  tool: Tool<Value>,
  tasks: TaskRuntime | null,
  place: "before" | "after" = "after",
): Tool<Value> {
  if (tasks === null) return tool;
  return {
    ...toolParts(tool),
    async execute(args, context) {
      const { value, text } = await tool.execute(args, context);
      const notices = noticeText(context.owner ? tasks.takeNotices(context.owner) : []);
      if (notices === "") return { value, text };
      const parts = place === "before" ? [notices, text] : [text, notices];
      return { value, text: parts.join("\n") };
    },
  };
}

function noticeText(ended: readonly TaskInfo[]): string {
  return ended
    .map(({ id, label, end, durationMs }) => {
      const seconds = (durationMs / 1000).toFixed(1);
      return `[background task ${id} (${oneLine(label)}) has ended after ${seconds} s: ${statusText(end)}; read it with task_output]`;
    })
    .join("\n");
}

function resultOf({ task, output }: TaskReading): ToolResult {
  return { value: { task: asData(task), output }, text: renderProcessRead(output, task.end) };
}

/** As JSON can hold it. */
function asData({ startedAt, ...task }: TaskInfo): object {
  return { ...task, startedAt: startedAt.toISOString() };
}

function oneLine(label: string): string {
  const [line = ""] = label.trim().split("\n", 1);
  return line === label.trim() ? line : `${line}…`;
}
