import type { FreeSpace } from './free-space.ts';

const spaceCheckBytes = 16 * 1024 * 1024;

/** Stops a long stream when the disk fills up in the meantime (I13). */
export async function* spaceChecked(
  space: Pick<FreeSpace, 'require'>,
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void> {
  let unchecked = 0;
  for await (const chunk of chunks) {
    unchecked += chunk.length;
    if (unchecked >= spaceCheckBytes) {
      unchecked = 0;
      await space.require();
    }
    yield chunk;
  }
}
