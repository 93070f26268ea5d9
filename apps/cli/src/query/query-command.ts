/** `platform query`: queries readings with an aggregation pipeline or a SELECT and prints tables, lines of JSON, or CSV; saved queries. */
import type { Command } from 'commander';
import { group } from '../invocation/define-command.ts';
import { mqlCommand } from './mql.ts';
import { savedCommand } from './saved/saved-command.ts';
import { sqlCommand } from './sql.ts';

export function queryCommand(): Command {
  return group('query', 'query readings with SQL or MQL (aggregation pipelines)', [
    mqlCommand(),
    sqlCommand(),
    savedCommand(),
  ]);
}
