/** Where a text may be cut without parting a surrogate pair. Indices are UTF-16 code units. */

/** The index, or the one before it where it would part a pair. */
export function toBoundary(text: string, index: number): number {
  return endsInsidePair(text, index) ? index - 1 : index;
}

/** The index, or the one after it where it would part a pair. */
export function fromBoundary(text: string, index: number): number {
  return endsInsidePair(text, index) ? index + 1 : index;
}

function endsInsidePair(text: string, index: number): boolean {
  const before = text.charCodeAt(index - 1);
  const after = text.charCodeAt(index);
  return before >= 0xd800 && before <= 0xdbff && after >= 0xdc00 && after <= 0xdfff;
}
