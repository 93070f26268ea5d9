/** The tabular store: readings as rows that queries can ask for, hot in a child process and sealed in Parquet files (I7–I10, I14). */
import type { Clock, Log } from '@platform/base';
import type { IngestLog } from '../ingest/log.ts';
import type { Database } from '../metadata/tables.ts';
import type { TabularSettings } from './settings.ts';
import type { Tabular } from './tabular.ts';

export interface TabularOptions {
  /** Holds ingest.sqlite (read by the child through its own read-only handle) and parquet/ (created when missing). */
  readonly dataDir: string;
  readonly db: Database;
  readonly ingestLog: Pick<IngestLog, 'lastPosition' | 'onCommit' | 'markDamaged'>;
  readonly log: Log;
  readonly clock: Clock;
  readonly settings?: Partial<TabularSettings>;
}

export function createTabular(_options: TabularOptions): Tabular {
  throw new Error('being written');
}
