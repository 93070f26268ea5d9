/** The platform command line: one file for each command. */
import { Command } from 'commander';
import { queryCommand } from './commands/query.ts';
import { upCommand } from './commands/up.ts';
import { versionCommand } from './commands/version.ts';

const program: Command = new Command('platform')
  .description('Open, self-hosted platform for managing machines.')
  .showHelpAfterError('(platform --help lists the commands)')
  .addCommand(upCommand())
  .addCommand(queryCommand())
  .addCommand(versionCommand());

await program.parseAsync();
