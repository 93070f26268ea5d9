/** TriggerService: what triggers would do, before they are saved. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import { type Timestamp, timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { type Clock, invalidArgument, notFound, type Problem, resourceExhausted } from '@platform/base';
import {
  type DryRunTriggersResponseSchema,
  SuppressionReason,
  TriggerOutcome,
  type TriggerService,
} from '@platform/proto/platform/app/v1/triggers';
import type { Access } from '../access/authorize.ts';
import type { CloudHandlers } from '../access/principal.ts';
import type { TriggersIfSaved } from '../machines/configuration/triggers-if-saved.ts';
import type { PartTriggers } from '../machines/configuration/triggers-of.ts';
import type { EventPlace } from '../outbox/event.ts';
import { type DryRunDeps, dryRun, whyNotDry } from '../triggers/dry-run/dry-run.ts';
import { type DryRunOccurrence, type DryRunSummary, summarizer } from '../triggers/dry-run/summarize.ts';
import { parseTriggers } from '../triggers/parsing/parse-triggers.ts';
import type { Trigger } from '../triggers/trigger.ts';

export interface DraftDeps {
  readonly access: Pick<Access, 'authorize'>;
  /** Undefined: the part does not exist. */
  readonly configOf: (partId: string) => Promise<PartTriggers | undefined>;
  readonly triggersIfSaved: (partId: string, triggers: readonly unknown[]) => Promise<TriggersIfSaved>;
  readonly placeOf: (partId: string) => EventPlace | undefined;
  readonly clock: Clock;
}

export interface DryRunRpcDeps extends DraftDeps {
  readonly dryRun: DryRunDeps;
}

type Answer = MessageInitShape<typeof DryRunTriggersResponseSchema>;

const defaultSpanMs = 7 * 86_400_000;
const defaultOccurrences = 100;
const maxOccurrences = 10_000;
const maxDraft = 1_000;
/** Concurrent dry runs of one organization: each reads as much as a large query. */
const maxRunning = 2;
const progressEveryMs = 500;

export function dryRunHandlers(deps: DryRunRpcDeps): CloudHandlers<typeof TriggerService> {
  const { access, clock, placeOf } = deps;
  const running = new Map<string, number>();
  return {
    async validateTriggers({ partId, triggers }, call) {
      // It shows the content of fragments, so it requires the right to save.
      access.authorize(call.principal, 'part.manage', partId);
      const { problems } = await deps.triggersIfSaved(partId, draftOf(triggers, 'ValidateTriggers'));
      return { problems: problems.map(problemMessage) };
    },
    async *dryRunTriggers(request, call) {
      const { partId, draft } = request;
      const { organizationId } = access.authorize(call.principal, draft ? 'part.manage' : 'part.triggers', partId);
      const place = placeOf(partId);
      if (place === undefined) throw notFound(`part ${partId} was deleted`);
      const span = spanOf(request.start, request.end, clock.now());
      const { triggers, problems } = await asked(deps, partId, draft && draftOf(draft.triggers, 'DryRunTriggers'));
      const wanted = named(triggers, request.names);
      const most = Math.min(request.maxOccurrences || defaultOccurrences, maxOccurrences);
      const count = running.get(organizationId) ?? 0;
      if (count >= maxRunning)
        throw resourceExhausted(
          `DryRunTriggers: expected at most ${maxRunning} dry runs of an organization at a time, found more: try again when one has ended`,
        );
      running.set(organizationId, count + 1);
      try {
        yield { result: { case: 'begun', value: { problems, triggers: wanted.map(({ name }) => name) } } };
        for (const trigger of wanted) yield* runOne(deps, { place, ...span, signal: call.signal }, trigger, most);
      } finally {
        running.set(organizationId, (running.get(organizationId) ?? 1) - 1);
      }
    },
  };
}

async function* runOne(
  deps: DryRunRpcDeps,
  span: Parameters<typeof dryRun>[1],
  trigger: Trigger,
  most: number,
): AsyncGenerator<Answer> {
  const { place, fromMs, untilMs } = span;
  const why = whyNotDry(trigger);
  if (why !== undefined) return yield summaryMessage(trigger, undefined, why);
  const summary = summarizer(place.partId, trigger, most);
  const stop = new AbortController();
  let atMs = fromMs;
  const sink: Parameters<typeof dryRun>[3] = {
    decided: summary.decided,
    read(looked) {
      ({ atMs } = looked);
      summary.read(looked);
    },
  };
  const signal = AbortSignal.any([span.signal, stop.signal]);
  const run = dryRun(deps.dryRun, { ...span, signal }, trigger, sink).then(() => 'over' as const);
  // If the caller disconnects while nothing awaits the run, its error does not matter.
  run.catch(() => {});
  try {
    for (;;) {
      const pause = deps.clock.sleep(progressEveryMs, signal).then(() => 'on' as const);
      pause.catch(() => {});
      if ((await Promise.race([run, pause])) === 'over') break;
      const { readings, lines } = summary.summary();
      yield {
        result: {
          case: 'progress',
          value: {
            trigger: trigger.name,
            readings: BigInt(readings),
            lines: BigInt(lines),
            share: Math.min(1, Math.max(0, (atMs - fromMs) / Math.max(1, untilMs - fromMs))),
          },
        },
      };
    }
  } finally {
    stop.abort();
  }
  yield summaryMessage(trigger, summary.summary(), '');
}

function summaryMessage(trigger: Trigger, found: DryRunSummary | undefined, notRunBecause: string): Answer {
  const value = {
    ...{ trigger: trigger.name, eventType: trigger.event.type, notRunBecause, disabled: !trigger.enabled },
    ...(found && {
      fired: BigInt(found.fired),
      recovered: BigInt(found.recovered),
      sent: BigInt(found.sent),
      suppressedByInterval: BigInt(found.suppressedByInterval),
      suppressedAsNotTold: BigInt(found.suppressedAsNotTold),
      uploads: BigInt(found.uploads),
      readings: BigInt(found.readings),
      lines: BigInt(found.lines),
      ...(found.firstMs !== undefined && { first: timestampFromMs(found.firstMs) }),
      ...(found.lastMs !== undefined && { last: timestampFromMs(found.lastMs) }),
      occurrences: found.occurrences.map(occurrenceMessage),
    }),
  };
  return { result: { case: 'summary', value } };
}

function occurrenceMessage({ outcome, atMs, reason, notifications }: DryRunOccurrence) {
  return {
    outcome: outcome === 'fired' ? TriggerOutcome.FIRED : TriggerOutcome.RECOVERED,
    at: timestampFromMs(atMs),
    reason,
    notifications: notifications.map(({ suppressed, messageId }) => ({
      suppressed:
        suppressed === undefined
          ? SuppressionReason.UNSPECIFIED
          : suppressed === 'interval'
            ? SuppressionReason.INTERVAL
            : SuppressionReason.NOT_TOLD,
      deliveryId: messageId,
    })),
  };
}

/** The triggers without errors, including disabled ones, and the problems of a draft. */
async function asked(
  { configOf, triggersIfSaved }: DraftDeps,
  partId: string,
  draft: readonly unknown[] | undefined,
): Promise<{ triggers: readonly Trigger[]; problems: ReturnType<typeof problemMessage>[] }> {
  const found = draft && (await triggersIfSaved(partId, draft));
  const config = found?.config ?? (await configOf(partId));
  const parsed = parseTriggers(config?.triggers, config?.components ?? []);
  return { triggers: parsed.triggers, problems: (found ?? parsed).problems.map(problemMessage) };
}

function named(triggers: readonly Trigger[], names: readonly string[]): readonly Trigger[] {
  if (names.length === 0) return triggers;
  return names.map((name) => {
    const found = triggers.find((trigger) => trigger.name === name);
    if (found !== undefined) return found;
    throw invalidArgument(
      `DryRunTriggers: names: expected names of triggers without errors (${namesOf(triggers)}), found "${name.slice(0, 100)}"`,
    );
  });
}

/** For an error text. */
export function namesOf(triggers: readonly Trigger[]): string {
  return triggers.length === 0
    ? 'it has none'
    : triggers
        .map(({ name }) => name)
        .join(', ')
        .slice(0, 500);
}

function spanOf(start: Timestamp | undefined, end: Timestamp | undefined, nowMs: number) {
  const untilMs = end === undefined ? nowMs : Math.min(timestampMs(end), nowMs);
  const fromMs = start === undefined ? untilMs - defaultSpanMs : timestampMs(start);
  if (fromMs < untilMs) return { fromMs, untilMs };
  throw invalidArgument(
    `DryRunTriggers: start: expected a time before the end (${new Date(untilMs).toISOString()}), found ${new Date(fromMs).toISOString()}`,
  );
}

function draftOf(triggers: readonly unknown[], operation: string): readonly unknown[] {
  if (triggers.length <= maxDraft) return triggers;
  throw invalidArgument(`${operation}: expected at most ${maxDraft} triggers, found ${triggers.length}`);
}

function problemMessage({ level, path, message }: Problem): { severity: string; path: string; message: string } {
  return { severity: level, path, message };
}
