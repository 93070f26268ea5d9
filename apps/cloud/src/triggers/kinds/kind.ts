/** Defines a kind of trigger: how its event is parsed, and how it reacts to inputs. */
import type { ConfiguredResource } from '../../machines/configuration/triggers-of.ts';
import type { JsonObject } from '../parsing/json.ts';
import type { Problems } from '../parsing/problems.ts';
import type { TriggerEventRule } from '../trigger.ts';

export interface TriggerKind {
  /** The `type` of its event. */
  readonly type: string;
  /** Keys of the event besides `type`. */
  readonly keys: readonly string[];
  /** @param resources the configured components and services @returns undefined after an error */
  readonly parse: (
    event: JsonObject,
    resources: readonly ConfiguredResource[],
    path: string,
    problems: Problems,
  ) => TriggerEventRule | undefined;
  /** Why `seconds_between_notifications` is ignored. Absent: it applies. */
  readonly ignoresInterval?: string;
}
