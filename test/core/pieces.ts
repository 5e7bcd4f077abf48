/** A stream of bytes may be cut anywhere: ways to cut one. */

const encoder = new TextEncoder();

export function bytesOf(text: string): Uint8Array {
  return encoder.encode(text);
}

/** The bytes whole, cut in two at every position, and one by one. */
export function* everyCut(bytes: Uint8Array): Generator<Uint8Array[]> {
  yield [bytes];
  for (let at = 1; at < bytes.length; at++) yield [bytes.subarray(0, at), bytes.subarray(at)];
  yield Array.from(bytes, (byte) => Uint8Array.of(byte));
}
