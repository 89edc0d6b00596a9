// Scores rows by a classifier that is given as plain data. A row is an object of its cells by the name of their column;
// a cell that is not there, null, undefined or NaN is missing.
//
//   model.predictProba(row)   P(class | row), in the order of model.classes
//   model.predict(row)        the class of largest probability
//   model.decide(row)         the action of least expected cost, where the model has a loss
//
// A date is a text as ISO 8601 writes it, what the clock on the wall shows; times of day and durations are seconds.

const DAY = 86400, MOST_FILLED = 65536;
const UNSPACED =
  "\\u{0e00}-\\u{0eff}\\u{1000}-\\u{109f}\\u{a9e0}-\\u{a9ff}\\u{aa60}-\\u{aa7f}\\u{1780}-\\u{17ff}\\u{3000}-\\u{312f}" +
  "\\u{31a0}-\\u{31ff}\\u{ff66}-\\u{ff9f}\\u{3400}-\\u{9fff}\\u{f900}-\\u{faff}\\u{1aff0}-\\u{1b16f}\\u{20000}-\\u{3ffff}";
const PIECES = new RegExp(`[${UNSPACED}]+|[^${UNSPACED}]+`, "gu"), STRETCH = new RegExp(`^[${UNSPACED}]`, "u");
const UNSPACED_CHARACTER = new RegExp(`[${UNSPACED}]`, "u");
const RUNS = /[\p{L}\p{N}_][\p{L}\p{N}_\p{M}]*/gu, PAIRS = /[\p{L}\p{N}_]{2,}/gu;

class RowRefused extends Error {}

const sum = (values) => values.reduce((a, b) => a + b, 0);
const range = (n) => Array.from({ length: n }, (_, i) => i);

function logSum(scores) {
  const top = Math.max(...scores);
  return top === -Infinity ? top : top + Math.log(sum(scores.map((score) => Math.exp(score - top))));
}

function logShares(scores) {
  const total = logSum(scores);
  return scores.map((score) => score - total);
}

// Put infinities where a document has their signs.
function numbers(value) {
  if (Array.isArray(value)) return value.map((part) => (part === null ? -Infinity : numbers(part)));
  if (value !== null && typeof value === "object")
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, part === null ? null : numbers(part)]));
  return value === "inf" ? Infinity : value;
}

// ---------------------------------------------------------------- cells

const keyOf = (value) => (typeof value === "string" ? "text " + value : "number " + Number(value));

function statesOf(cell) {
  const form = cell.form;
  if (form.kind === "LabelForm") return new Map(form.labels.map((label, code) => [keyOf(label), code]));
  return new Map((form.words || []).map((word, code) => [word, code]));
}

function valueOf(raw, field, part) {
  if (raw === null || raw === undefined || (typeof raw === "number" && Number.isNaN(raw))) return null;
  const shown = JSON.stringify(field.name) + " has " + JSON.stringify(raw);
  if (field.kind === "date") return partOf(raw, part, shown);
  if (field.kind === "number" || field.kind === "seconds") {
    if (typeof raw === "boolean") return Number(raw);
    if (typeof raw !== "number") throw new RowRefused(`column ${shown}, which is no number`);
    if (!Number.isFinite(raw)) throw new RowRefused(`column ${JSON.stringify(field.name)} is infinite`);
  } else if (field.kind === "text" && typeof raw !== "string") throw new RowRefused(`column ${shown}, which is no text`);
  return raw;
}

function partOf(raw, part, shown) {
  const found = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d(?:\.\d+)?))?)?$/.exec(raw);
  if (!found) throw new RowRefused(`column ${shown}, which is no date without a time zone`);
  const [, year, month, day, hour, minute, second] = found.map((text) => Number(text || 0));
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const days = Math.round(date.getTime() / (1000 * DAY));
  if (part === "days") return days + (hour * 3600 + minute * 60 + second) / DAY;
  if (part === "time") return hour * 3600 + minute * 60;
  return part === "weekday" ? (date.getUTCDay() + 6) % 7 : month;
}

function isWithin(value, form) {
  if (form.low !== null && !(form.is_closed ? value >= form.low : value > form.low)) return false;
  return (form.high === "inf" || value < form.high) && !(form.is_whole && value !== Math.floor(value));
}

// List the words of a text.
function split(text, form) {
  if (form.ngrams !== null) {
    const words = ((form.lowercase ? text.toLowerCase() : text).match(PAIRS) || []).filter(
      (word) => !form.stop_words.includes(word)
    );
    const found = [];
    for (let n = form.ngrams[0]; n <= form.ngrams[1]; n++)
      for (let at = 0; at + n <= words.length; at++) found.push(words.slice(at, at + n).join(" "));
    return found;
  }
  const found = [], longest = form.pairs ? 3 : 2;
  const runs = (text.match(RUNS) || []).map((run) => run.toLowerCase().normalize("NFC"));
  for (const run of runs) {
    for (const piece of run.match(PIECES) || []) {
      if (!STRETCH.test(piece)) found.push(piece);
      else {
        const characters = [...piece];
        for (let n = 1; n <= longest; n++)
          for (let at = 0; at + n <= characters.length; at++) found.push(characters.slice(at, at + n).join(""));
      }
    }
  }
  if (form.pairs)
    runs.slice(1).forEach((run, i) => {
      if (!UNSPACED_CHARACTER.test(runs[i]) && !UNSPACED_CHARACTER.test(run)) found.push(runs[i] + " " + run);
    });
  return found;
}

function wordCounts(text, form, codes) {
  const counts = new Map();
  for (const word of split(text, form)) {
    const code = codes.get(word);
    if (code !== undefined) counts.set(code, form.once ? 1 : (counts.get(code) || 0) + 1);
  }
  return counts;
}

// ---------------------------------------------------------------- what cells add

const FORMULAS = {
  Lookup: (f, code) => f.log_likelihood[code],
  Distance(f, x) {
    const value = f.is_log ? Math.log(x) : x;
    return f.intercept.map((intercept, k) => {
      const away = (value - f.mean[k]) * f.scale[k];
      return intercept - f.weight[k] * (f.is_student ? Math.log1p(away * away) : away * away);
    });
  },
  Weights(f, x) {
    let total = f.intercept;
    f.features.forEach((feature, i) => {
      const value = feature === "x" ? x : feature === "log x" ? Math.log(x) : Math.log1p(-x);
      if (value) total = total.map((t, k) => t + value * f.weights[i][k]);
    });
    return total;
  },
  Circle(f, x) {
    const half = (Math.PI * x) / f.period;
    return f.intercept.map((intercept, k) => intercept - 2 * f.kappa[k] * Math.sin(half - f.mu[k] / 2) ** 2);
  },
  ScaledWords(f, counts) {
    const amounts = [...counts].map(([code, count]) => [code, f.is_marked ? 1 : Math.log1p(count)]);
    let length = Math.sqrt(sum(amounts.map(([, amount]) => amount * amount)));
    if (f.by_root) length = Math.sqrt(length);
    if (!length) return f.intercept.map(() => 0);
    let total = f.intercept;
    for (const [code, amount] of amounts) total = total.map((t, k) => t + (amount / length) * f.weights[code][k]);
    return total;
  },
  WordWeights(f, counts) {
    let total = f.intercept;
    for (const [code, count] of counts) total = total.map((t, k) => t + (f.once ? 1 : count) * f.weights[code][k]);
    return total;
  },
};

// How much a row with so many known cells has of what holds for a usual one.
const knownShare = (known, usual, others) =>
  others.length ? others.reduce((share, o) => (share * Math.max(known - o, 0)) / (usual - o), 1) : Number(known > 0);

// A function of terms, and of how many are known: what they say of the class, each by its weight.
function weighing(w) {
  return (terms, known) => {
    const total = [...w.shift[known]];
    terms.forEach((own, i) => {
      const common = logSum(own.map((t, k) => w.prior[k] + t)), doubt = w.doubt[i] * w.bounded[known];
      own.forEach((t, k) => {
        const slope = w.slope[i][k];
        let said = common > -Infinity ? t - common : t;
        if (doubt && said > -Infinity) said = Math.log((1 - doubt) * Math.exp(said) + doubt);
        total[k] += said / (1 + (slope < 0 ? w.high : w.low)[known] * slope);
      });
    });
    return total;
  };
}

const TERMS = {
  FeaturesTerm(model, term) {
    return (cells) => {
      const counts = term.cells.map((cell, j) => [j, cells[cell]]).filter(([, count]) => count);
      return FORMULAS.ScaledWords(term.formula, counts);
    };
  },

  WeightedTerm(model, term) {
    const terms = term.terms.map((own) => TERMS.ColumnTerm(model, own)), addUp = weighing(term.weighing);
    return (cells) => {
      const known = sum(term.terms.map((own) => Number(model.isKnown(own.cell, cells[own.cell]))));
      return addUp(terms.map((add) => add(cells)), known);
    };
  },

  ColumnTerm(model, term) {
    const none = model.classes.map(() => 0), add = FORMULAS[term.formula.kind];
    return (cells) => (cells[term.cell] === null ? none : add(term.formula, cells[term.cell]));
  },

  // Messages go from the leaves to the roots: of a cell that is missing, the sum over its states.
  TreeTerm(model, { cells, parents, tables }) {
    const nStates = cells.map((cell) => model.form.cells[cell].n_states);
    const depth = (j) => (parents[j] < 0 ? 0 : 1 + depth(parents[j]));
    const fromLeaves = range(cells.length).sort((a, b) => depth(b) - depth(a));
    const classes = range(model.classes.length);
    return (values) => {
      const states = cells.map((cell) => values[cell]), isHeard = cells.map(() => false);
      const below = nStates.map((n) => range(n).map(() => classes.map(() => 0)));
      const total = classes.map(() => 0);
      for (const j of fromLeaves) {
        const isThere = states[j] < nStates[j], p = parents[j];
        if (!isThere && !isHeard[j]) continue;
        const at = p < 0 ? [0] : states[p] < nStates[p] ? [states[p]] : range(tables[j].length);
        for (const a of at)
          for (const k of classes) {
            const message = isThere
              ? tables[j][a][states[j]][k] + below[j][states[j]][k]
              : logSum(range(nStates[j]).map((b) => tables[j][a][b][k] + below[j][b][k]));
            if (p < 0) total[k] += message;
            else below[p][a][k] += message;
          }
        if (p >= 0) isHeard[p] = true;
      }
      return total;
    };
  },

  // Missing cells that others, which are there, depend on are gaps, and summed over.
  GraphTerm(model, { cells, parents, tables }) {
    const nStates = cells.map((cell) => model.form.cells[cell].n_states), all = range(cells.length);
    const above = (j) => parents[j].flatMap((p) => [p, ...above(p)]);
    const ancestors = all.map((j) => new Set(above(j))), classes = range(model.classes.length);
    const knows = (j, gaps) => gaps.includes(j) || parents[j].some((p) => gaps.includes(p));
    const score = (j, states) => parents[j].reduce((table, p) => table[states[p]], tables[j])[states[j]];
    return (values) => {
      const states = cells.map((cell) => values[cell]), there = all.map((j) => states[j] < nStates[j]);
      const isGap = (j) => nStates[j] && !there[j] && all.some((b) => there[b] && ancestors[b].has(j));
      const gaps = all.filter(isGap);
      let nFilled = 0;
      // Gaps are summed over one by one, and apart where no column knows two of them.
      const summed = (gaps, columns) => {
        const rows = columns.filter((j) => !knows(j, gaps)).map((j) => score(j, states));
        let total = classes.map((k) => sum(rows.map((row) => row[k])));
        let rest = columns.filter((j) => knows(j, gaps));
        while (rest.length) {
          let part = [], linked = [rest[0]], own;
          while (linked.length) {
            part = part.concat(linked);
            own = gaps.filter((gap) => part.some((j) => knows(j, [gap])));
            linked = rest.filter((j) => !part.includes(j) && knows(j, own));
          }
          rest = rest.filter((j) => !part.includes(j));
          const nKnow = own.map((gap) => part.filter((j) => knows(j, [gap])).length);
          const first = own[nKnow.indexOf(Math.max(...nKnow))], found = [];
          for (states[first] = 0; states[first] < nStates[first]; states[first]++) {
            if (++nFilled > MOST_FILLED) throw new RowRefused("too many cells are missing that others depend on");
            found.push(summed(own.filter((gap) => gap !== first), part));
          }
          total = classes.map((k) => total[k] + logSum(found.map((row) => row[k])));
        }
        return total;
      };
      return summed(gaps, all.filter((j) => there[j] || gaps.includes(j)));
    };
  },

  // The mean of the joints of all parents that the row can have; with weights, their sum.
  AverageTerm(model, term) {
    const addUp = term.weighing && weighing(term.weighing);
    const nStates = term.cells.map((cell) => model.form.cells[cell].n_states);
    const classes = range(model.classes.length), all = range(nStates.length);
    return (values) => {
      let states = term.cells.map((cell) => values[cell]);
      if (term.implied !== null)
        states = all.map((j) => (all.some((i) => term.implied[i][j][states[i]][states[j]]) ? nStates[j] : states[j]));
      let weights = all.map((i) => term.weights[i][states[i]]);
      if (!weights.some((weight) => weight)) weights = all.map((i) => term.even[i][states[i]]);
      const total = sum(weights);
      if (!total) return classes.map((k) => term.log_prior[k] + sum(all.map((j) => term.marginals[j][states[j]][k])));
      const used = all.filter((i) => weights[i]);
      const member = (i, k) =>
        term.joints[i][states[i]][k] + sum(all.map((j) => term.given[i][j][states[i]][states[j]][k]));
      if (addUp) {
        const prior = term.log_prior, counted = prior.map((p) => (p > -Infinity ? p : 0));
        const members = all.map((i) => classes.map((k) => (weights[i] ? member(i, k) - counted[k] : 0)));
        return addUp(members, used.length).map((t, k) => prior[k] + t);
      }
      return classes.map((k) => logSum(used.map((i) => Math.log(weights[i]) + member(i, k))) - Math.log(total));
    };
  },

  GaussianTerm(model, term) {
    return (values) => {
      const x = term.cells.map((cell) => values[cell]);
      if (x.includes(null)) throw new RowRefused("a cell is missing, and the columns are not independent of each other");
      return term.mean.map((mean, k) => {
        const whitening = term.whitening[k], v = term.degrees[k];
        const z = range(whitening[0].length).map((d) => sum(x.map((value, j) => (value - mean[j]) * whitening[j][d])));
        if (term.is_line) return term.constant[k] + z[0];
        const distance = sum(z.map((one) => one * one));
        if (v === Infinity) return term.constant[k] - distance / 2;
        return term.constant[k] - ((v + z.length) / 2) * Math.log1p(distance / v);
      });
    };
  },
};

// ---------------------------------------------------------------- the classifier

class Scorer {
  constructor(form) {
    this.form = form;
    this.classes = form.classes;
    this.columns = form.fields.map((field) => field.name);
    this.prior = numbers(form.log_prior);
    this.fallback = numbers(form.fallback);
    this.terms = form.terms.map((term) => TERMS[term.kind](this, numbers(term)));
    this.states = form.cells.map(statesOf);
    this.calibration = form.calibration && numbers(form.calibration);
    this.decision = form.decision;
  }

  predictProba(row) {
    return this.probabilities(this.read(row));
  }

  predict(row) {
    const proba = this.predictProba(row);
    return this.classes[proba.indexOf(Math.max(...proba))];
  }

  decide(row) {
    if (this.decision === null) throw new Error("the model was exported without a loss; export it with one");
    const risks = this.risks(this.predictProba(row));
    return this.decision.actions[risks.indexOf(Math.min(...risks))];
  }

  risks(proba) {
    return this.decision.regret.map((own) => sum(own.map((cost, k) => cost * proba[k])));
  }

  probabilities(cells) {
    const scores = this.scores(cells);
    if (this.calibration === null) {
      const top = Math.max(...scores), weights = scores.map((score) => Math.exp(score - top)), total = sum(weights);
      return weights.map((weight) => weight / total);
    }
    return this.calibrated(scores, this.known(cells)).map(Math.exp);
  }

  // Cells of a row: numbers, codes of states, and counts of words; null where a number is missing.
  read(row) {
    return this.form.cells.map((cell, place) => {
      const field = this.form.fields[cell.field], form = cell.form, name = JSON.stringify(field.name);
      const value = valueOf(Object.hasOwn(row, field.name) ? row[field.name] : null, field, cell.part);
      const unseen = (code) => {
        if (this.form.refuses_unseen) throw new RowRefused(`column ${name} has ${JSON.stringify(value)}, which is unknown`);
        return code;
      };
      if (value === null) {
        if (this.form.refuses_missing) throw new RowRefused(`column ${name} is missing`);
        return this.blank(place);
      }
      if (form.kind === "TextForm") return wordCounts(value, form, this.states[place]);
      if (form.kind === "NumberForm") return isWithin(value, form) ? value : unseen(null);
      if (form.kind === "BinForm") return form.cuts.filter((cut) => (form.above ? cut < value : cut <= value)).length;
      const code = this.states[place].get(keyOf(value));
      return code === undefined ? unseen(cell.n_states) : code;
    });
  }

  // What stands for a missing cell.
  blank(place) {
    const cell = this.form.cells[place];
    return cell.form.kind === "NumberForm" || cell.form.kind === "TextForm" ? null : cell.missing;
  }

  known(cells) {
    const isText = (place) => this.form.cells[place].form.kind === "TextForm";
    return sum(
      cells.map((value, place) => (isText(place) ? (value === null ? 0 : value.size) : Number(this.isKnown(place, value))))
    );
  }

  // Whether a cell is known; a text is if any of its words is.
  isKnown(place, value) {
    const cell = this.form.cells[place];
    if (cell.form.kind === "TextForm") return value !== null && value.size > 0;
    if (cell.form.kind === "NumberForm") return value !== null && !(this.form.counts_nonzero && value === 0);
    return value < cell.n_states;
  }

  // Log-joints of the classes; those of the prior where no class can have the row.
  scores(cells) {
    const total = [...this.prior];
    for (const add of this.terms) add(cells).forEach((score, k) => (total[k] += score));
    return Math.max(...total) > -Infinity ? total : [...this.fallback];
  }

  calibrated(joints, known) {
    const c = this.calibration;
    const scores = logShares(logShares(joints).map((score, k) => score + c.to_counted[k]));
    let share = knownShare(known, c.usual, c.others);
    if (c.others.length > 1) share = Math.min(share, 1);
    const bounded = Math.min(share, 1), slope = 1 / (1 + (c.temperature - 1) * share);
    let found = logShares(
      scores.map((score, k) =>
        score > -Infinity ? c.prior[k] + slope * (score - c.prior[k]) + bounded * c.shift[k] : -Infinity
      )
    );
    const lapse = c.lapse * bounded;
    if (lapse > 0) {
      const even = lapse / found.filter((score) => score > -Infinity).length;
      found = found.map((score) => (score > -Infinity ? Math.log((1 - lapse) * Math.exp(score) + even) : score));
    }
    if (c.doubt > 0) {
      const raised = found.map((score, k) => score === -Infinity && c.doubted[k]), n = raised.filter(Boolean).length;
      if (n) {
        const rest = Math.log1p(-c.doubt), each = Math.log(c.doubt) - Math.log(n);
        found = found.map((score, k) => (raised[k] ? each : score + rest));
      }
    }
    if (c.is_given) found = logShares(found.map((score, k) => (c.impossible[k] ? -Infinity : score - c.to_counted[k])));
    return found;
  }
}
