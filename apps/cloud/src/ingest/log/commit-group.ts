/** One commit for everything that waits: all of it is answered after COMMIT returned, or none of it is in (I2). */
import { sqliteFault } from '../../metadata/sqlite/sqlite-fault.ts';
import type { Appender } from './appender.ts';
import type { LogMaintenance } from './log-maintenance.ts';
import type { LogAnswer, LogRequest } from './log-protocol.ts';

export type LogWork = Exclude<LogRequest, { kind: 'close' }>;

export type GroupOutcome =
  | { readonly kind: 'answered' }
  /** The disk or the file failed: what reached it is unknown, so nobody is answered and the process ends. */
  | { readonly kind: 'fatal'; readonly message: string };

export interface CommitGroupOptions {
  readonly appender: Appender;
  readonly maintenance: LogMaintenance;
  readonly answer: (answers: readonly LogAnswer[]) => void;
}

export function commitGroup(options: CommitGroupOptions, work: readonly LogWork[]): GroupOutcome {
  const { appender, maintenance, answer } = options;
  const perform = (request: LogWork): LogAnswer => {
    const { id } = request;
    if (request.kind === 'append') return { id, result: appender.append(request.entry) };
    if (request.kind === 'truncate') return { id, result: maintenance.truncate(request.upTo, request.maxRows) };
    if (request.kind === 'damaged') return { id, result: maintenance.markDamaged(request.position, request.reason) };
    if (request.kind === 'lost') return { id, result: maintenance.noteLoss(request.loss) };
    if (request.kind === 'accept losses') return { id, result: maintenance.acceptLosses(request.nowMs) };
    if (request.kind === 'restore') return { id, result: maintenance.restoreRow(request.row) };
    if (request.kind === 'end losses') return { id, result: maintenance.endLosses(request.position) };
    if (request.kind === 'go on') return { id, result: maintenance.goOnAfter(request.after) };
    if (request.kind === 'forget') return { id, result: maintenance.forgetBlobs(request.paths) };
    return { id, result: maintenance.expire(request.nowMs) };
  };
  try {
    appender.begin();
    const answers = work.map(perform);
    appender.commit();
    answer(answers);
    return { kind: 'answered' };
  } catch (caught) {
    const fault = sqliteFault(caught);
    if (fault.kind === 'fatal') return { kind: 'fatal', message: fault.message };
    appender.rollback();
    if (work.length === 1) {
      answer(work.map(({ id }) => ({ id, fault })));
      return { kind: 'answered' };
    }
  }
  // One that cannot be stored, or that does not fit on the disk, takes none of its neighbours with it.
  for (const request of work) {
    const outcome = commitGroup(options, [request]);
    if (outcome.kind === 'fatal') return outcome;
  }
  return { kind: 'answered' };
}
