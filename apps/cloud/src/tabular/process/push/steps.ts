/** What all sealed files of a snapshot do for a query, in order: files that do the same share a statement. */
import type { Batch } from '@platform/query';
import type { SourceExplain } from '../../tabular.ts';
import type { ScanRequest } from '../messages.ts';
import { type Choice, chooseFor, type Wanted, wholeRows } from './choose.ts';
import { needsNewest, newestRows } from './newest.ts';
import type { OpenFile } from './open-files.ts';
import { emissionKey, type Statement, statementOf } from './statement.ts';

export type Step =
  | { readonly k: 'batch'; readonly batch: Batch; readonly explain: StepExplain }
  | { readonly k: 'statement'; readonly statement: Statement; readonly explain: StepExplain };

/** Filled while the step runs. */
export type StepExplain = { -readonly [Field in keyof SourceExplain]: SourceExplain[Field] };

interface Chosen extends Choice {
  readonly file: OpenFile;
  readonly key: string;
}

/** @param wanted undefined: nothing is pushed but series and times. */
export function stepsOf(files: readonly OpenFile[], wanted: Wanted | undefined, request: ScanRequest): readonly Step[] {
  const isNewest = wanted !== undefined && needsNewest(wanted, request);
  const steps: Step[] = [];
  let run: Chosen[] = [];
  const finish = (): void => {
    steps.push(...statementSteps(run));
    run = [];
  };
  for (const file of files) {
    if (file.wanted.length === 0) continue;
    const batch = isNewest ? newestRows(file, wanted, request) : undefined;
    if (batch !== undefined) {
      finish();
      const explain: StepExplain = { does: 'newest', pushed: ['newest'], files: 1, statements: 0, rows: batch.count };
      if (batch.count > 0) steps.push({ k: 'batch', batch, explain });
      continue;
    }
    const choice = wanted ? chooseFor(file, wanted, request) : { emission: wholeRows(file, request), pushed: [] };
    if (choice === undefined) continue;
    const key = emissionKey(choice.emission);
    if (run.length > 0 && run[0]?.key !== key) finish();
    run.push({ ...choice, file, key });
  }
  finish();
  return regrouped(steps);
}

function statementSteps(run: readonly Chosen[]): readonly Step[] {
  const [first] = run;
  if (first === undefined) return [];
  const statement = statementOf(run);
  // Sums that are exact file by file may not be over all of them.
  if (statement === undefined) {
    const half = Math.ceil(run.length / 2);
    return [...statementSteps(run.slice(0, half)), ...statementSteps(run.slice(half))];
  }
  const { kind } = first.emission;
  const explain: StepExplain = { does: kind, pushed: first.pushed, files: run.length, statements: 1, rows: 0 };
  return [{ k: 'statement', statement, explain }];
}

/** Small batches of newest rows become one: a thousand of them would be a thousand messages. */
function regrouped(steps: readonly Step[]): readonly Step[] {
  const result: Step[] = [];
  for (const step of steps) {
    const last = result.at(-1);
    if (step.k !== 'batch' || last?.k !== 'batch' || last.batch.bytes.length > maxBatchBytes) {
      result.push(step);
      continue;
    }
    result[result.length - 1] = {
      k: 'batch',
      batch: joined(last.batch, step.batch),
      explain: { ...last.explain, files: last.explain.files + 1, rows: last.explain.rows + step.explain.rows },
    };
  }
  return result;
}

const maxBatchBytes = 1 << 20;

function joined(left: Batch, right: Batch): Batch {
  const bytes = new Uint8Array(left.bytes.length + right.bytes.length);
  bytes.set(left.bytes);
  bytes.set(right.bytes, left.bytes.length);
  const ends = new Uint32Array(left.count + right.count);
  ends.set(left.ends);
  ends.set(
    right.ends.map((end) => end + left.bytes.length),
    left.count,
  );
  return { count: left.count + right.count, bytes, ends };
}
