/** `platform billing`: usage, debts and payments of an organization; prices; charges. */
import type { Command } from 'commander';
import { group } from '../../invocation/define-command.ts';
import { chargeCommand } from './charge.ts';
import { methodCommand } from './method.ts';
import { pdfCommand } from './pdf.ts';
import { closeMonthCommand, pricesCommand, simulateCommand } from './prices.ts';
import { serviceCommand } from './service.ts';
import { infoCommand, invoicesCommand, usageCommand } from './usage.ts';
import { voidCommand } from './void.ts';

export function billingCommand(): Command {
  return group('billing', 'usage, invoices and prices of an organization; for its owners', [
    usageCommand(),
    infoCommand(),
    invoicesCommand(),
    pdfCommand(),
    chargeCommand(),
    methodCommand(),
    pricesCommand(),
    simulateCommand(),
    closeMonthCommand(),
    voidCommand(),
    serviceCommand(),
  ]);
}
