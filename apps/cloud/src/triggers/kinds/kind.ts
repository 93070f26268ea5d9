/** Defines a kind of trigger: how its event is parsed, and which uploads cause it. */
import type { JsonObject } from '../json.ts';
import type { Problems } from '../problems.ts';
import type { TriggerEventRule } from '../trigger.ts';

export interface TriggerKind {
  /** The `type` of its event. */
  readonly type: string;
  /** Keys of the event besides `type`. */
  readonly keys: readonly string[];
  /** @param components names of the configured components and services @returns undefined after an error */
  readonly parse: (
    event: JsonObject,
    components: readonly string[],
    path: string,
    problems: Problems,
  ) => TriggerEventRule | undefined;
  /** Why `seconds_between_notifications` is ignored. Absent: it applies. */
  readonly ignoresInterval?: string;
}
