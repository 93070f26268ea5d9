/** Truncates or damages the tail of a write-ahead log, for tests (https://www.sqlite.org/fileformat2.html#walformat). */

/** Size of its header, and of the header of each frame. */
const [headerBytes, frameHeaderBytes] = [32, 24];

export interface WalTail {
  /** Lengths at which a commit is complete. */
  readonly commitEnds: readonly number[];
  /** Lengths at which to truncate it: at and around every boundary, and within each page. */
  readonly cuts: readonly number[];
  /** Number of commits complete within this length. */
  wholeBefore(length: number): number;
}

export function readWalTail(wal: Buffer): WalTail {
  const pageBytes = wal.readUInt32BE(8);
  const frameBytes = frameHeaderBytes + pageBytes;
  const commitEnds: number[] = [];
  const cuts = new Set<number>([0, 1, headerBytes - 1, headerBytes, wal.length]);
  for (let at = headerBytes; at + frameBytes <= wal.length; at += frameBytes) {
    // The frame of a commit contains the file's page count; frames from before the log was restarted have another salt.
    if (wal.readUInt32BE(at + 4) > 0 && wal.readUInt32BE(at + 8) === wal.readUInt32BE(16))
      commitEnds.push(at + frameBytes);
    for (const within of [0, 1, frameHeaderBytes - 1, frameHeaderBytes, frameHeaderBytes + 1_003, frameBytes - 1])
      cuts.add(at + within);
  }
  return { commitEnds, cuts: [...cuts], wholeBefore: (length) => commitEnds.filter((end) => end <= length).length };
}
