/** How a query was executed, as the only row of its answer. Counts are longs, so that readers need not guess the type. */
import { BsonDocument, encodeBson } from '@platform/query';
import type { NotPushed, QueryExplain } from '../tabular/tabular.ts';

/** Whether the caller requests an explanation instead of the rows: `platform-explain: true`. */
export function wantsExplain(metadata: Headers): boolean {
  return metadata.get('platform-explain') === 'true';
}

/**
 * @param words describes a part of the query in its own language.
 * @param notices parts of the query that are valid but probably unintended.
 */
export function explainRow(
  explain: QueryExplain,
  words: (pushed: string) => string,
  notices: readonly string[],
): Uint8Array {
  const { pushDown, filesListed, filesSkipped, filesRead, sources, later, rows, scannedBytes, elapsedMs } = explain;
  const told = ({ part, why }: NotPushed): BsonDocument => BsonDocument.of({ part: words(part), why });
  return encodeBson(
    BsonDocument.of({
      ...(notices.length > 0 && { notices: [...notices] }),
      push_down: pushDown,
      sources: sources.map(({ does, pushed, notPushed = [], files, statements, rows: given }) =>
        BsonDocument.of({
          does,
          pushed: pushed.map(words),
          ...(notPushed.length > 0 && { not_pushed: notPushed.map(told) }),
          files: BigInt(files),
          statements: BigInt(statements),
          rows: BigInt(given),
        }),
      ),
      ...(later.length > 0 && { later: later.map(told) }),
      files_listed: BigInt(filesListed),
      files_skipped: BigInt(filesSkipped),
      files_read: BigInt(filesRead),
      rows: BigInt(rows),
      scanned_bytes: BigInt(scannedBytes),
      elapsed_ms: Math.round(elapsedMs * 1_000) / 1_000,
    }),
  );
}
