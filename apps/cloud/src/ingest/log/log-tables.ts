/**
 * The tables of ingest.sqlite.
 *
 * log       one row per acknowledged upload (I1); AUTOINCREMENT, so that no position is ever reused, even after truncation (I3)
 * streams   the low-water mark (`floor`) of each stream; it never falls (I6)
 * dedup     uploads that may be repeated: at or above their stream's low-water mark, or anonymous and younger than settle_until (I5, D13)
 * conflicts uploads whose key holds another upload; kept for a person to inspect, never read by queries (I5)
 * damaged   rows that a follower could not read: skipped, not truncated (I8)
 * losses    uploads that can no longer be read, with the reader that missed them, until a person accepts the loss (D33)
 * blobs     payloads in the blob store that belong to an upload; all others in the store are swept (I4)
 *
 * Only the appender's thread writes. Other processes read `log` too, so renaming needs a migration. The checksums of its rows are those of
 * losses/row-checksums.ts.
 */
import { baselineVersion } from '../../metadata/baseline-version.ts';
import type { Migration } from '../../metadata/sqlite/writer-protocol.ts';

export const ingestMigrations: readonly Migration[] = [
  {
    version: baselineVersion,
    statements: [
      `create table log (
        position integer primary key autoincrement,
        part text not null,
        stream blob not null,
        seq integer not null,
        sha256 blob not null,
        batch blob not null,
        head_checksum integer not null,
        batch_checksum integer not null
      )`,
      `create table streams (
        part text not null,
        stream blob not null,
        floor integer not null,
        primary key (part, stream)
      ) without rowid`,
      `create table dedup (
        part text not null,
        stream blob not null,
        seq integer not null,
        sha256 blob not null,
        file_id text not null,
        position integer not null,
        settle_until integer,
        primary key (part, stream, seq)
      ) without rowid`,
      `create index dedup_settle on dedup (settle_until) where settle_until is not null`,
      `create table conflicts (
        id integer primary key,
        part text not null,
        stream blob not null,
        seq integer not null,
        sha256 blob not null,
        batch blob not null,
        unique (part, stream, seq, sha256)
      )`,
      `create table damaged (
        position integer primary key,
        reason text not null
      )`,
      `create table losses (
        loss_in text not null,
        first_position integer not null,
        last_position integer not null,
        parts text,
        reason text not null,
        found_ms integer not null,
        accepted_ms integer,
        primary key (loss_in, first_position)
      )`,
      `create table blobs (
        path text primary key,
        part text not null
      ) without rowid`,
    ],
  },
];

/** For tools that read a store directly: the payloads that belong to an upload. */
export const blobPathsSql = 'select path from blobs';
