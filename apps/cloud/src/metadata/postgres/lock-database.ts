/**
 * Lets only one cloud at a time use a database, because each keeps its account tree and positions in memory.
 *
 * A session's advisory lock holds the database, so it is released with the process, however that ends. If the connection is lost, the lock
 * is taken again; if another cloud has taken it in the meantime, this cloud stops at once.
 */
import { type ClockAndLog, errorText, failedPrecondition, PlatformError } from '@platform/base';
import type { Client } from 'pg';
import type { PostgresAddress } from './postgres-address.ts';
import { connectPostgres } from './postgres-connection.ts';
import { isNotThereYet, postgresError } from './postgres-fault.ts';
import { lockClass } from './postgres-writer.ts';

export interface LockDatabaseOptions extends ClockAndLog {
  readonly address: PostgresAddress;
  readonly onFatal: (error: Error) => void;
  /**
   * How long a start waits for an unreachable server, for example one that starts at the same time as the cloud. Default 2 min; 0: not
   * at all.
   */
  readonly serverWaitMs?: number;
}

/** Key of the advisory lock that the user of a database holds. */
export const databaseLockKey = 0;
/** The server detects a killed process within this time; that long the start waits for its lock. */
const waitMs = 10_000;
const retryMs = 200;
const oldest = 150_000;
const serverWaitMs = 120_000;
/** Interval between the first attempts, doubled each time up to the second value. */
const [firstTryMs, longestTryMs] = [250, 5_000];

/** Throws failed_precondition if another cloud holds the database, or the server is older than Postgres 15. */
export async function lockDatabase(options: LockDatabaseOptions): Promise<AsyncDisposable> {
  const { address, clock, log, onFatal } = options;
  const stop = new AbortController();
  let client: Client | null = null;

  const take = async (): Promise<Client> => {
    const until = clock.monotonic() + waitMs;
    let isLost = false;
    const taken = await connectPostgres(address, 'meta', (gone) => {
      isLost = true;
      lost(gone);
    });
    for (;;) {
      const { rows } = await taken.query(`select pg_try_advisory_lock(${lockClass}, ${databaseLockKey}) as held`);
      if (rows[0]?.held === 1) break;
      if (clock.monotonic() >= until || stop.signal.aborted) {
        await taken.end().catch(() => {});
        throw failedPrecondition(
          `${address.shown} is in use by another cloud: stop that cloud first, or give this one another database`,
        );
      }
      await clock.sleep(retryMs, stop.signal).catch(() => {});
    }
    if (isLost) throw new Error('the connection was lost immediately');
    client = taken;
    return taken;
  };
  const lost = (gone: Client): void => {
    if (client !== gone || stop.signal.aborted) return;
    client = null;
    void again();
  };
  const again = async (): Promise<void> => {
    while (!stop.signal.aborted && client === null) {
      try {
        const taken = await take();
        if (stop.signal.aborted) return void (await taken.end().catch(() => {}));
        log.info('connected to the database again');
      } catch (caught) {
        if (caught instanceof PlatformError) return stop.signal.aborted ? undefined : onFatal(caught);
        log.warn('the database cannot be reached, trying again', { error: errorText(caught) });
        await clock.sleep(retryMs * 5, stop.signal).catch(() => {});
      }
    }
  };

  const held = (): Client | null => client;

  const first = async (): Promise<Client> => {
    const { serverWaitMs: forMs = serverWaitMs } = options;
    const until = clock.monotonic() + forMs;
    for (let tryMs = firstTryMs; ; tryMs = Math.min(2 * tryMs, longestTryMs)) {
      try {
        return await take();
      } catch (caught) {
        if (!isNotThereYet(caught) || clock.monotonic() + tryMs > until) throw caught;
        if (tryMs === firstTryMs)
          log.warn(`waiting up to ${forMs / 1_000} s for ${address.shown}, which cannot be reached yet`, {
            error: errorText(caught),
          });
      }
      await clock.sleep(tryMs);
    }
  };

  try {
    const taken = await first();
    const { rows } = await taken.query(`select current_setting('server_version_num') as version`);
    const version = Number(rows[0]?.version);
    if (version < oldest) throw failedPrecondition(`${address.shown}: expected Postgres 15 or newer, found ${version}`);
  } catch (caught) {
    stop.abort();
    await held()
      ?.end()
      .catch(() => {});
    throw postgresError(caught, 'the start', address.shown);
  }
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await held()
        ?.end()
        .catch(() => {});
    },
  };
}
