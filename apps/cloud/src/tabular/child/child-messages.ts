/** Passes messages of the child to the code that waits for them, or records them. */
import { errorText, type Log } from '@platform/base';
import type { IngestLog } from '../../ingest/log/log.ts';
import type { Seals } from '../catalog/seals.ts';
import type { Compaction } from '../compaction/compaction.ts';
import type { FileHealth } from '../integrity/file-health.ts';
import { recordLoss } from '../integrity/record-loss.ts';
import type { Scrub } from '../integrity/scrub.ts';
import type { FoundFile, FromChild } from '../process/messages.ts';
import type { Measure } from '../query/measure.ts';
import type { ChildQueries } from './child-queries.ts';

export interface ChildMessages {
  readonly onMessage: (message: FromChild) => void;
  /** What the child holds, as last reported. */
  readonly hot: Omit<Extract<FromChild, { kind: 'loaded' }>, 'kind'>;
  /** Called when a child starts: nothing after S is loaded. */
  begin(sealed: number): void;
  /** By position: how many of the row's readings are missing; null means all. */
  readonly damaged: ReadonlyMap<number, number | null>;
  /** Resolves when all findings about files are stored. */
  settled(): Promise<void>;
}

export function createChildMessages(deps: {
  readonly ingestLog: Pick<IngestLog, 'markDamaged' | 'recordLoss'>;
  readonly seals: Pick<Seals, 'sealed' | 'inTurn'>;
  readonly compaction: Pick<Compaction, 'answered'>;
  readonly measure: Pick<Measure, 'answered'>;
  readonly scrub: Pick<Scrub, 'answered'>;
  readonly health: Pick<FileHealth, 'found'>;
  readonly questions: Pick<ChildQueries, 'onMessage'>;
  /** Called after `hot` changed. */
  readonly progressed: () => void;
  readonly log: Log;
}): ChildMessages {
  const { ingestLog, seals, compaction, measure, scrub, health, questions, progressed, log } = deps;
  let hot = { position: 0, hotRows: 0, hotBytes: 0, unsealedBytes: 0 };
  const damaged = new Map<number, number | null>();
  let checking: Promise<void> = Promise.resolve();
  const checked = (file: string, found: FoundFile): void => {
    checking = checking
      .then(() => health.found(file, found))
      .catch((caught: unknown) =>
        log.error('the result of checking a file could not be stored', { file, error: errorText(caught) }),
      );
  };

  const onMessage = (message: FromChild): void => {
    switch (message.kind) {
      case 'loaded':
        hot = message;
        progressed();
        return;
      case 'damaged': {
        const { position, reason, readings } = message;
        damaged.set(position, readings);
        if (readings === null)
          log.error('a row of the ingest log could not be loaded; it is kept and skipped', { position, reason });
        else
          log.error(
            'some readings of a row of the ingest log could not be loaded; the row is kept, and its other readings are available',
            {
              position,
              readings,
              reason,
            },
          );
        ingestLog
          .markDamaged(position, reason)
          .catch((caught: unknown) =>
            log.error('marking a damaged row failed', { position, error: errorText(caught) }),
          );
        return;
      }
      case 'lost':
        recordLoss(ingestLog, log, message.damage);
        return;
      case 'sealed':
        seals.sealed(message.files, message.upTo);
        return;
      case 'measured':
        measure.answered(message);
        return;
      case 'rewritten':
        seals.inTurn(() => compaction.answered(message));
        return;
      case 'checked':
        checked(message.file, message.found);
        return;
      case 'scrubbed':
        scrub.answered(message);
        return;
      case 'log':
        log[message.level](message.message, message.fields);
        return;
      default:
        questions.onMessage(message);
    }
  };

  return {
    onMessage,
    get hot() {
      return hot;
    },
    begin(sealed) {
      hot = { position: sealed, hotRows: 0, hotBytes: 0, unsealedBytes: 0 };
      progressed();
    },
    damaged,
    settled: () => checking,
  };
}
