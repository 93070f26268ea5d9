/** The steps of a query over all sealed files of a snapshot, in order; files processed the same way share a statement. */
import type { Batch } from '@platform/query';
import type { SourceExplain } from '../../tabular.ts';
import type { ScanRequest } from '../messages.ts';
import { type Choice, chooseFor, keptRows, type Wanted, wholeRows } from './choose-pushdown.ts';
import type { FileGroups, QueryGroups } from './groups/group-cache.ts';
import type { FactsGroup } from './groups/group-facts.ts';
import { type NewestOf, needsNewest, newestOf, newestRows } from './groups/newest.ts';
import type { OpenFile } from './open-files.ts';
import { bySeriesNumbers } from './series/series-numbers.ts';
import { emissionKey, type Statement, statementOf } from './statement.ts';

export type Step =
  | {
      readonly k: 'batch';
      readonly batch: Batch;
      readonly done: boolean;
      /** Files whose rows it represents. */
      readonly files?: readonly OpenFile[];
      readonly explain: StepExplain;
    }
  | {
      readonly k: 'statement';
      readonly statement: Statement;
      /** The files and choices of the statement. Absent: the statement cannot be rebuilt. */
      readonly run?: readonly Chosen[];
      /** Receives the whole result of the statement. */
      readonly keep?: (batches: readonly Batch[]) => void;
      readonly explain: StepExplain;
    };

/** Filled in while the step runs. */
export type StepExplain = { -readonly [Field in keyof SourceExplain]: SourceExplain[Field] };

/** @param found what is not empty or 0 */
export function explained(does: StepExplain['does'], found: Partial<StepExplain>): StepExplain {
  return { does, pushed: [], files: 0, statements: 0, rows: 0, ...found };
}

/** A file with its choice. */
export interface Chosen extends Choice {
  readonly file: OpenFile;
  readonly key: string;
}

/** Options for one query. */
export interface StepsOptions {
  /** undefined: only series and times are pushed down. */
  readonly wanted: Wanted | undefined;
  /** Takes files whose facts are sufficient. */
  readonly facts: FactsGroup | undefined;
  /** Groups of files that earlier queries requested. */
  readonly groups: QueryGroups | undefined;
  readonly request: ScanRequest;
}

export function stepsOf(files: readonly OpenFile[], { wanted, facts, groups, request }: StepsOptions): readonly Step[] {
  const isNewest = wanted !== undefined && needsNewest(wanted, request);
  const steps: Step[] = [];
  let run: Chosen[] = [];
  let gatheredBytes = 0;
  let newest: NewestOf[] = [];
  let known: Known[] = [];
  const finish = (): void => {
    if (groups !== undefined && known.length > 0) steps.push(knownStep(known, groups));
    const [own, shared] = groups === undefined ? [[], run] : ownStatements(run, groups);
    steps.push(...own);
    for (const alike of bySeriesNumbers(shared)) steps.push(...statementSteps(alike));
    if (wanted !== undefined && newest.length > 0) steps.push(newestStep(newest, wanted, request));
    known = [];
    run = [];
    gatheredBytes = 0;
    newest = [];
  };
  for (const file of files) {
    if (file.wanted.length === 0) continue;
    const found = isNewest ? newestOf(file, wanted, request) : undefined;
    if (found !== undefined) {
      if (run.length > 0 || known.length > 0) finish();
      newest.push(found);
      continue;
    }
    const kept = wanted && keptRows(file, wanted, request);
    if (wanted && (kept === undefined || facts?.add(file, kept) === true)) continue;
    const choice = wanted && kept ? chooseFor(file, kept, wanted, request) : unpushed(file, request);
    if (choice === undefined) continue;
    const cached = isKept(choice, file) ? groups?.of(choice.emission, file.path) : undefined;
    if (cached !== undefined) {
      // Groups have no order among themselves, but which of several equal keys is used depends on rows that are grouped later.
      if (newest.length > 0 || (run.length > 0 && run[0]?.emission.kind !== 'group')) finish();
      known.push({ file, emission: choice.emission, path: file.path, batch: cached, pushed: choice.pushed });
      continue;
    }
    const key = emissionKey(choice.emission);
    const bytes = choice.emission.gathered ?? 0;
    const isOther = run.length > 0 && (run[0]?.key !== key || gatheredBytes + bytes > maxGatheredBytes);
    if (newest.length > 0 || isOther || (known.length > 0 && choice.emission.kind !== 'group')) finish();
    run.push({ ...choice, file, key });
    gatheredBytes += bytes;
  }
  finish();
  // Groups have no order, and the sums of these groups are exact.
  return facts === undefined || facts.isEmpty ? steps : [factsStep(facts), ...steps];
}

function unpushed(file: OpenFile, request: ScanRequest): Choice | undefined {
  const emission = wholeRows(file, request);
  return emission && { emission, pushed: [], notPushed: () => [] };
}

function factsStep({ files, pushed, batch: make }: FactsGroup): Step {
  const batch = make();
  const explain = explained('facts', { pushed: [...pushed, '$group'], files, rows: batch.count });
  return { k: 'batch', batch, done: true, explain };
}

/** A file whose groups an earlier query requested. */
interface Known extends FileGroups {
  readonly file: OpenFile;
  readonly pushed: readonly string[];
}

function knownStep(known: readonly Known[], groups: QueryGroups): Step {
  const batch = groups.together(known);
  const pushed = [...new Set(known.flatMap((each) => each.pushed))];
  const explain = explained('known', { pushed, files: known.length, rows: batch.count });
  return { k: 'batch', batch, done: true, files: known.map(({ file }) => file), explain };
}

/** A hot file that has grown beyond the snapshot is read up to a position that no other query will request. */
function isKept({ emission }: Choice, { upTo }: OpenFile): boolean {
  return emission.kind === 'group' && emission.done && upTo === undefined;
}

/** Statements of single files, whose groups are kept, and the other files. */
function ownStatements(run: readonly Chosen[], groups: QueryGroups): readonly [readonly Step[], readonly Chosen[]] {
  const own: Step[] = [];
  const shared: Chosen[] = [];
  for (const chosen of run) {
    const { emission, file } = chosen;
    if (!isKept(chosen, file) || !groups.wants(emission, file.path)) shared.push(chosen);
    else {
      const keep = (batches: readonly Batch[]): void => groups.add(emission, file.path, file.facts.rows, batches);
      own.push(...statementSteps([chosen]).map((step): Step => (step.k === 'statement' ? { ...step, keep } : step)));
    }
  }
  return [own, shared];
}

/** Limit of what one statement may gather if all rows pass. */
const maxGatheredBytes = 128 << 20;

function newestStep(found: readonly NewestOf[], wanted: Wanted, request: ScanRequest): Step {
  const batch = newestRows(found, wanted, request);
  const explain = explained('newest', { pushed: ['newest'], files: found.length, rows: batch.count });
  return { k: 'batch', batch, done: false, explain };
}

function statementSteps(run: readonly Chosen[]): readonly Step[] {
  const [first] = run;
  if (first === undefined) return [];
  const statement = statementOf(run);
  // Sums that are exact for each file may not be exact over all of them.
  if (statement === undefined) {
    const half = Math.ceil(run.length / 2);
    return [...statementSteps(run.slice(0, half)), ...statementSteps(run.slice(half))];
  }
  const { kind } = first.emission;
  const { pushed } = first;
  const explain = explained(kind, { pushed, notPushed: first.notPushed(), files: run.length, statements: 1 });
  return [{ k: 'statement', statement, run, explain }];
}
