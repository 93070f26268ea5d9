/** Caches recurring texts, such as the keys of documents, so that each is decoded once. */

const maxTexts = 2_048;

/** Indexed by a hash of their bytes. */
const texts = new Map<number, { readonly bytes: Uint8Array; readonly text: string }>();

export function cachedText(bytes: Uint8Array, start: number, end: number): string {
  let hash = end - start;
  for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + (bytes[at] as number)) | 0;
  const known = texts.get(hash);
  if (known && known.bytes.length === end - start) {
    let same = 0;
    while (same < known.bytes.length && known.bytes[same] === bytes[start + same]) same++;
    if (same === known.bytes.length) return known.text;
  }
  // Copied, because the cache outlives the surrounding buffer.
  const own = new Uint8Array(bytes.subarray(start, end));
  const text = Buffer.from(own.buffer).toString('utf8');
  if (texts.size >= maxTexts) texts.clear();
  texts.set(hash, { bytes: own, text });
  return text;
}
