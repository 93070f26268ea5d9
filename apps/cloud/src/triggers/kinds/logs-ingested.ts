/** `conditional_logs_ingested`: accepted and validated, but it does not fire yet. */
import { namesOf } from '../json.ts';
import type { TriggerKind } from './kind.ts';

const type = 'conditional_logs_ingested';
const logLevels = ['error', 'warn', 'info'] as const;

export const logsIngested: TriggerKind = {
  type,
  keys: ['log_levels'],
  parse(event, _components, path, problems) {
    problems.warn(path, `${type} triggers do not fire in this version yet; the others do`);
    const levels = namesOf(event['log_levels'], logLevels, `${path}.log_levels`, problems);
    return levels && { type };
  },
  ignoresInterval: 'logs are checked every hour',
};
