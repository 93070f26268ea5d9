/** `platform query`: readings by aggregation pipeline or by SELECT, as tables, lines of JSON, or CSV; pipelines under a name. */
import type { Command } from 'commander';
import { group } from '../invocation/leaf.ts';
import { mqlCommand } from './mql.ts';
import { savedCommand } from './saved/saved-command.ts';
import { sqlCommand } from './sql.ts';

export function queryCommand(): Command {
  return group('query', 'ask for readings, in MQL or SQL', [mqlCommand(), sqlCommand(), savedCommand()]);
}
