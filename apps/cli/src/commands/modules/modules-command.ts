/** `platform modules`: programs that provide resources to machines. */
import type { Command } from 'commander';
import { group } from '../../invocation/define-command.ts';
import { buildModule } from './build.ts';
import { createModule } from './create.ts';
import { reloadModule } from './reload.ts';
import { uploadModule } from './upload.ts';

export function modulesCommand(): Command {
  const commands = [createModule(), reloadModule(), buildModule(), uploadModule()];
  return group('modules', 'modules that machines run', commands).alias('module');
}
