/** Small operations on bytes. */

export const NO_BYTES: Uint8Array = new Uint8Array();

/** The parts as one piece; a single part is returned as it is. */
export function concat(parts: readonly Uint8Array[]): Uint8Array {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return only;
  const all = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** Where `wanted` begins in `bytes`; -1 if nowhere. */
export function indexOfBytes(bytes: Uint8Array, wanted: Uint8Array): number {
  const first = wanted[0] as number;
  for (let at = bytes.indexOf(first); at !== -1; at = bytes.indexOf(first, at + 1)) {
    if (wanted.every((byte, i) => bytes[at + i] === byte)) return at;
  }
  return -1;
}
