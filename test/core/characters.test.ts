import { expect, test } from "vitest";
import { fromBoundary, toBoundary } from "../../src/core/characters.ts";

// Code units: a, high, low, b, high, low.
const TEXT = "a😀b😀";

test.each([
  [0, 0, 0],
  [1, 1, 1],
  [2, 1, 3],
  [3, 3, 3],
  [4, 4, 4],
  [5, 4, 6],
  [6, 6, 6],
  [9, 9, 9],
])("a cut at %i moves back to %i or on to %i", (index, back, on) => {
  expect(toBoundary(TEXT, index)).toBe(back);
  expect(fromBoundary(TEXT, index)).toBe(on);
});

test.each([
  ["two low halves", "\udc00\udc00"],
  ["two high halves", "\ud83d\ud83d"],
  ["the wrong order", "\udc00\ud83d"],
])("a cut between halves that are no pair stays: %s", (_, text) => {
  expect(toBoundary(text, 1)).toBe(1);
  expect(fromBoundary(text, 1)).toBe(1);
});
