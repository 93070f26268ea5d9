/** The configuration of a part as versions: save, read, and what other features ask of it. */
import { type Clock, PlatformError } from '@platform/base';
import type { Transaction } from 'kysely';
import type { CloudTables, Database } from '../metadata/tables.ts';

/** Documents over this are refused: a configuration is read whole by every machine at every change. */
const maxDocumentBytes = 4 * 1024 * 1024;
const maxDepth = 100;

export interface ConfigurationVersion {
  readonly version: number;
  /** The bytes that the user saved: a JSON object. */
  readonly document: string;
  readonly author: string;
  readonly createdMs: number;
}

export interface SaveRequest {
  readonly partId: string;
  readonly document: string;
  readonly author: string;
  /** The save time of the version that the client edited; absent: the last write wins. */
  readonly editedMs?: number;
}

export interface Configurations {
  /** The current version; a part that was never configured has version 0 with an empty object. */
  current(partId: string): Promise<ConfigurationVersion>;
  history(partId: string): Promise<readonly ConfigurationVersion[]>;
  /** Saves a new version after `check` accepted it. @throws invalid_argument, aborted */
  save(request: SaveRequest): Promise<ConfigurationVersion>;
}

export interface ConfigurationDeps {
  readonly db: Database;
  readonly clock: Clock;
  /** Answers the warnings of a document; throws invalid_argument with all its errors and their JSON paths. */
  readonly check: (document: unknown) => readonly string[];
  /** Told about the warnings of a version that was saved. */
  readonly onWarnings: (partId: string, version: number, warnings: readonly string[]) => Promise<void>;
  /** Runs inside the transaction that saves: what depends on the configuration moves with it. */
  readonly onSaving: (trx: Transaction<CloudTables>, partId: string, document: unknown) => Promise<void>;
}

export function createConfigurations(deps: ConfigurationDeps): Configurations {
  const { db, clock, check, onWarnings, onSaving } = deps;
  const cache = new Map<string, ConfigurationVersion>();

  /** A read that began before a save must not put the older version back. */
  const remember = (partId: string, found: ConfigurationVersion): void => {
    if ((cache.get(partId)?.version ?? -1) < found.version) cache.set(partId, found);
  };

  const newest = async (partId: string): Promise<ConfigurationVersion> => {
    const row = await db
      .selectFrom('part_configurations')
      .selectAll()
      .where('part_id', '=', partId)
      .orderBy('version', 'desc')
      .limit(1)
      .executeTakeFirst();
    if (row === undefined) return { version: 0, document: '{}', author: '', createdMs: 0 };
    return { version: row.version, document: row.document, author: row.author, createdMs: row.created_ms };
  };

  return {
    async current(partId) {
      const cached = cache.get(partId);
      if (cached !== undefined) return cached;
      const found = await newest(partId);
      remember(partId, found);
      return found;
    },
    async history(partId) {
      const rows = await db
        .selectFrom('part_configurations')
        .selectAll()
        .where('part_id', '=', partId)
        .orderBy('version', 'desc')
        .execute();
      return rows.map((row) => ({
        version: row.version,
        document: row.document,
        author: row.author,
        createdMs: row.created_ms,
      }));
    },
    async save({ partId, document, author, editedMs }) {
      if (Buffer.byteLength(document) > maxDocumentBytes) {
        throw new PlatformError(
          'invalid_argument',
          `configuration of part ${partId}: expected at most ${maxDocumentBytes} bytes of JSON, found ${Buffer.byteLength(document)}`,
        );
      }
      const parsed = parseDocument(document);
      const warnings = check(parsed);
      const saved = await db.transaction().execute(async (trx) => {
        const before = await trx
          .selectFrom('part_configurations')
          .select(['version', 'created_ms'])
          .where('part_id', '=', partId)
          .orderBy('version', 'desc')
          .limit(1)
          .executeTakeFirst();
        if (editedMs !== undefined && before !== undefined && before.created_ms !== editedMs) {
          throw new PlatformError(
            'aborted',
            `configuration of part ${partId}: you edited the version of ${timeText(editedMs)}, but version ${before.version} is of ${timeText(before.created_ms)}. Read it again and repeat your edit`,
          );
        }
        const next = {
          version: (before?.version ?? 0) + 1,
          document,
          author,
          createdMs: Math.max(clock.now(), (before?.created_ms ?? 0) + 1),
        };
        await trx
          .insertInto('part_configurations')
          .values({ part_id: partId, version: next.version, document, author, created_ms: next.createdMs })
          .execute();
        await onSaving(trx, partId, parsed);
        return next;
      });
      remember(partId, saved);
      if (warnings.length > 0) await onWarnings(partId, saved.version, warnings);
      return saved;
    },
  };
}

/** What a client names as the time may be none that a calendar knows. */
function timeText(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? `${ms} ms` : date.toISOString();
}

function parseDocument(document: string): unknown {
  try {
    const parsed: unknown = JSON.parse(document);
    requireFlat(parsed);
    return parsed;
  } catch (caught) {
    if (caught instanceof PlatformError) throw caught;
    throw new PlatformError(
      'invalid_argument',
      `configuration: expected JSON: ${caught instanceof Error ? caught.message : String(caught)}`,
      caught,
    );
  }
}

/**
 * Deeper documents would overflow the stack of whoever walks them; no real one comes near.
 *
 * @throws invalid_argument
 */
export function requireFlat(document: unknown): void {
  let level: unknown[] = [document];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxDepth) {
      throw new PlatformError(
        'invalid_argument',
        `configuration: expected at most ${maxDepth} levels of nesting, found more`,
      );
    }
    level = level.flatMap((value) => (typeof value === 'object' && value !== null ? Object.values(value) : []));
  }
}
