import type { FreeSpace } from './free-space.ts';

const spaceCheckBytes = 16 * 1024 * 1024;

/** Stops a long stream when the disk fills up in the meantime (I13). @param heard called for each chunk that arrives (D17) */
export async function* spaceChecked(
  space: Pick<FreeSpace, 'require'>,
  chunks: AsyncIterable<Uint8Array>,
  heard: () => void,
): AsyncGenerator<Uint8Array, void> {
  let unchecked = 0;
  for await (const chunk of chunks) {
    heard();
    unchecked += chunk.length;
    if (unchecked >= spaceCheckBytes) {
      unchecked = 0;
      await space.require();
    }
    yield chunk;
  }
}
