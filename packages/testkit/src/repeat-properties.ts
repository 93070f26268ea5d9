/** A setup file of vitest where FAULT_SEED is set: properties of fast-check, which differ at each run, use the seed that their failure named. */
import fc from 'fast-check';

fc.configureGlobal({ seed: Number(process.env['FAULT_SEED']) });
