/** Operators whose argument is an object with named parts, or that bind variables; a file for each family in forms/. */

import { literal } from '../plan/expr.ts';
import { arrayForms } from './forms/arrays.ts';
import { conditionalForms } from './forms/conditional.ts';
import { conversionForms } from './forms/conversion.ts';
import { dateForms } from './forms/dates.ts';
import { foldForms } from './forms/folds.ts';
import type { SpecialForm } from './forms/form.ts';
import { metaForms } from './forms/meta.ts';
import { numberForms } from './forms/numbers.ts';
import { objectForms } from './forms/objects.ts';
import { stringForms } from './forms/strings.ts';
import { variableForms } from './forms/variables.ts';

export const specialForms: Readonly<Record<string, SpecialForm>> = {
  $literal: (operand) => literal(operand),
  $const: (operand) => literal(operand),
  ...arrayForms,
  ...conditionalForms,
  ...foldForms,
  ...metaForms,
  ...objectForms,
  ...stringForms,
  ...variableForms,
  ...numberForms,
  ...conversionForms,
  ...dateForms,
};
