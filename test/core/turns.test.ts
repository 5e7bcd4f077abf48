import { describe, expect, test } from "vitest";
import { Turns } from "../../src/core/turns.ts";

/** Work that a test ends when it likes. */
class Work {
  end: () => void = () => undefined;
  readonly #ended = new Promise<void>((resolve) => {
    this.end = resolve;
  });

  async do(): Promise<string> {
    await this.#ended;
    return "done";
  }
}

/** Lets promises go on. */
async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve();
}

describe("turns", () => {
  test("give back what the work gives, and are free before and after", async () => {
    const turns = new Turns();
    expect(turns.taken).toBe(false);
    const work = new Work();
    const taken = turns.take(() => work.do(), null);
    expect(turns.taken).toBe(true);
    work.end();
    expect(await taken).toBe("done");
    expect(turns.taken).toBe(false);
  });

  test("are taken one at a time, first come, first served", async () => {
    const turns = new Turns();
    const works = Array.from({ length: 5 }, () => new Work());
    const events: string[] = [];
    const all = works.map((work, i) =>
      turns.take(async () => {
        events.push(`${i} begins`);
        await work.do();
        events.push(`${i} ends`);
      }, null),
    );
    for (const work of [...works].reverse()) {
      work.end();
      await settle();
    }
    await Promise.all(all);
    expect(events).toEqual(works.flatMap((_, i) => [`${i} begins`, `${i} ends`]));
    expect(turns.taken).toBe(false);
  });

  test("are not overtaken by one who comes as a turn ends", async () => {
    const turns = new Turns();
    const order: string[] = [];
    const say = (word: string) => async (): Promise<void> => void order.push(word);
    const work = new Work();
    const first = turns.take(() => work.do(), null).then(() => turns.take(say("third"), null));
    const second = turns.take(say("second"), null);
    work.end();
    await Promise.all([first, second]);
    expect(order).toEqual(["second", "third"]);
  });

  test("go on when work fails, whose error is passed on", async () => {
    const turns = new Turns();
    const failing = turns.take(async () => Promise.reject(new Error("failed")), null);
    const next = turns.take(async () => "next", null);
    await expect(failing).rejects.toThrow("failed");
    expect(await next).toBe("next");
    expect(turns.taken).toBe(false);
  });

  test("are refused to those who are aborted already", async () => {
    const turns = new Turns();
    let worked = false;
    const refused = turns.take(async () => {
      worked = true;
    }, AbortSignal.abort("why"));
    await expect(refused).rejects.toMatchObject({ code: "ABORTED", cause: "why" });
    expect({ worked, taken: turns.taken }).toEqual({ worked: false, taken: false });
  });

  test("are left at once by those who are aborted while they wait; the others keep their order", async () => {
    const turns = new Turns();
    const order: string[] = [];
    const work = new Work();
    const first = turns.take(() => work.do(), null);
    const { signal, abort } = controller();
    const left = turns.take(async () => void order.push("left"), signal);
    const stays = turns.take(async () => void order.push("stays"), null);
    abort();
    await expect(left).rejects.toMatchObject({ code: "ABORTED" });
    expect(order).toEqual([]);
    work.end();
    await Promise.all([first, stays]);
    expect({ order, taken: turns.taken }).toEqual({ order: ["stays"], taken: false });
  });

  test("pass on from one who is aborted just as the turn comes", async () => {
    const turns = new Turns();
    const { signal, abort } = controller();
    let worked = false;
    const first = turns.take(async () => undefined, null).then(abort);
    const left = turns.take(async () => {
      worked = true;
    }, signal);
    const next = turns.take(async () => "next", null);
    await Promise.allSettled([first, left]);
    expect(await next).toBe("next");
    expect({
      worked: worked && signal.aborted && (await failed(left)),
      taken: turns.taken,
    }).toEqual({
      worked: false,
      taken: false,
    });
  });

  test("are not ended by a signal that is aborted once the work has begun", async () => {
    const turns = new Turns();
    const { signal, abort } = controller();
    const work = new Work();
    const first = turns.take(() => work.do(), signal);
    abort();
    await settle();
    expect(turns.taken).toBe(true);
    work.end();
    expect(await first).toBe("done");
  });
});

function controller(): { signal: AbortSignal; abort: () => void } {
  const made = new AbortController();
  return { signal: made.signal, abort: () => made.abort() };
}

function failed(promise: Promise<unknown>): Promise<boolean> {
  return promise.then(
    () => false,
    () => true,
  );
}
