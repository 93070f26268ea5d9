/** Tails of a write-ahead log that are cut or damaged, for tests (https://www.sqlite.org/fileformat2.html#walformat). */

/** Bytes of its header, and of each frame before its page. */
const [headerBytes, frameHeaderBytes] = [32, 24];

export interface WalTail {
  /** Lengths at which a commit is whole. */
  readonly commitEnds: readonly number[];
  /** Lengths to cut it at: at and around every boundary there is, and within each page. */
  readonly cuts: readonly number[];
  /** Commits that are whole in so many bytes. */
  wholeBefore(length: number): number;
}

export function readWalTail(wal: Buffer): WalTail {
  const pageBytes = wal.readUInt32BE(8);
  const frameBytes = frameHeaderBytes + pageBytes;
  const commitEnds: number[] = [];
  const cuts = new Set<number>([0, 1, headerBytes - 1, headerBytes, wal.length]);
  for (let at = headerBytes; at + frameBytes <= wal.length; at += frameBytes) {
    // A frame that commits says how many pages the file has; those of before the log was begun again have another salt.
    if (wal.readUInt32BE(at + 4) > 0 && wal.readUInt32BE(at + 8) === wal.readUInt32BE(16))
      commitEnds.push(at + frameBytes);
    for (const within of [0, 1, frameHeaderBytes - 1, frameHeaderBytes, frameHeaderBytes + 1_003, frameBytes - 1])
      cuts.add(at + within);
  }
  return { commitEnds, cuts: [...cuts], wholeBefore: (length) => commitEnds.filter((end) => end <= length).length };
}
