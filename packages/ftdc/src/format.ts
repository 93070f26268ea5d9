/**
 * The file format of full-time diagnostics: whole numbers of one process, sampled about once a second. All integers are little-endian.
 *
 *   file    = "PLATFTDC" version:u32 (1) block*
 *   block   = "PFTB" kind:u8 length:u32 crc:u32 payload           crc: CRC-32C of kind and payload; length: of the payload
 *   payload = DEFLATE (raw) of the content
 *   schema  = kind 1: JSON {"id", "metrics": [name…], "labels": {name: text}}; applies to the data blocks with its id that follow
 *   data    = kind 2: schema id, number of samples n, n times (Unix ms), then for each metric of the schema n values
 *
 * The numbers of a data block are varints (7 bits to a byte, lowest first). Those of a column are zigzag-coded differences from the
 * previous number, starting from 0. Each run of a process begins a new file, and each file stands alone.
 *
 * Files are only appended to. A crash leaves at most one torn block at the end, which readers drop. A damaged block loses only its own
 * samples (a damaged schema: those that refer to it), because readers continue at the next block with a valid checksum.
 */
export const fileMagic: string = 'PLATFTDC';
export const blockMagic: string = 'PFTB';
export const formatVersion = 1;
export const fileHeaderBytes = 12;
export const blockHeaderBytes = 13;
/** A longer payload, or one that inflates to more than 8 times this, is damage. */
export const maxPayloadBytes: number = 4 * 1024 * 1024;

export const kinds = { schema: 1, data: 2 } as const;

/** The values measured at one time: whole numbers; others are rounded. */
export interface Sample {
  /** Wall clock, Unix ms. */
  readonly timeMs: number;
  /** Texts that seldom change, such as the revision of the configuration. */
  readonly labels: Readonly<Record<string, string>>;
  readonly values: ReadonlyMap<string, number>;
}
