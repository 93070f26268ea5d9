/** Accumulators with named parts as expressions: $firstN, $lastN, $minN, $maxN, $median and $percentile. */

import { call, literal } from '../../plan/expr.ts';
import { percentileAccumulators } from '../accumulators/percentile.ts';
import type { SpecialForm } from './form.ts';
import { namedParts } from './named-parts.ts';

export const foldForms: Readonly<Record<string, SpecialForm>> = {
  ...Object.fromEntries(['firstN', 'lastN', 'minN', 'maxN'].map((name) => [`$${name}`, someOf(name)])),
  ...Object.fromEntries(['median', 'percentile'].map((name) => [`$${name}`, quantiles(name)])),
};

function someOf(name: string): SpecialForm {
  return (operand, at, _vars, parse) => {
    const parts = namedParts(operand, at, {
      required: ['n', 'input'],
      optional: [],
      notObject: 5787900,
      unknown: 5787901,
      missing: { n: 5787906, input: 5787907 },
    });
    return call(`agg.${name}`, [parse(parts.get('n')!), parse(parts.get('input')!)], at);
  };
}

/** The accumulator's own parser checks everything. */
function quantiles(name: string): SpecialForm {
  return (operand, at, _vars, parse) => {
    const { arg, p } = percentileAccumulators[`$${name}`]!(operand, at, parse);
    return call(`agg.${name}`, [arg, ...(p ?? []).map((each) => literal(each))], at);
  };
}
