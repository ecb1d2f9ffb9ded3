// Reads and works out an expression such as 2 * (3 + sqrt(16))^2, without eval.

const FUNCTIONS = {
  sqrt: Math.sqrt,
  abs: Math.abs,
  sin: Math.sin,
  cos: Math.cos,
  tan: Math.tan,
  asin: Math.asin,
  acos: Math.acos,
  atan: Math.atan,
  ln: Math.log,
  log: Math.log10,
  exp: Math.exp,
  round: Math.round,
  floor: Math.floor,
  ceil: Math.ceil,
  min: Math.min,
  max: Math.max,
};
const ONE_OR_MORE = new Set(["min", "max"]);
const CONSTANTS = { pi: Math.PI, π: Math.PI, e: Math.E, tau: 2 * Math.PI };
const SAME = { "×": "*", "·": "*", "÷": "/", "−": "-", "–": "-", ":": "/" };
// Deeper than hand-written expressions, and far from the stack limit.
const DEEPEST = 200;

export class ExpressionError extends Error {
  /** `at` is the place in the text, from 0. */
  constructor(message, at) {
    super(message);
    this.name = "ExpressionError";
    this.at = at;
  }
}

const TOKEN =
  /\s*(?:(\d+(?:\.\d*)?(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?)|([a-zπ√]+)|(\*\*|[-+*/^()!%,]))/iy;

function tokens(text) {
  const plain = text.replace(/[×·÷−–:]/g, (sign) => SAME[sign]);
  const found = [];
  TOKEN.lastIndex = 0;
  while (plain.slice(TOKEN.lastIndex).trim() !== "") {
    const start = TOKEN.lastIndex;
    const match = TOKEN.exec(plain);
    if (!match) {
      const at = start + plain.slice(start).search(/\S/);
      throw new ExpressionError(`“${plain[at]}” is not supported.`, at);
    }
    const at = TOKEN.lastIndex - (match[1] ?? match[2] ?? match[3]).length;
    if (match[1]) found.push({ kind: "number", value: Number(match[1]), at });
    else if (match[2]) {
      const name = match[2] === "√" ? "sqrt" : match[2].toLowerCase();
      found.push({ kind: "name", value: name, at });
    } else {
      const sign = match[3] === "**" ? "^" : match[3];
      found.push({ kind: "sign", value: sign, at });
    }
  }
  found.push({ kind: "end", value: "", at: plain.length });
  return found;
}

/** Works out `text`; `ans` is what the word ans stands for. */
export function evaluate(text, ans = 0) {
  const list = tokens(text);
  let next = 0;
  let depth = 0;

  const peek = (value) =>
    list[next].kind === "sign" && list[next].value === value;
  const take = (value) => peek(value) && ++next > 0;

  function expected(what) {
    const token = list[next];
    const found =
      token.kind === "end"
        ? "the end"
        : `“${text.slice(token.at, token.at + 1)}”`;
    return new ExpressionError(`Expected ${what}, found ${found}.`, token.at);
  }

  function sum() {
    if (++depth > DEEPEST) {
      throw new ExpressionError("Too many nested brackets.", list[next].at);
    }
    let value = product();
    for (;;) {
      if (take("+")) value += product();
      else if (take("-")) value -= product();
      else break;
    }
    depth -= 1;
    return value;
  }

  function product() {
    let value = signed();
    for (;;) {
      if (take("*")) value *= signed();
      else if (peek("/")) {
        const { at } = list[next++];
        const divisor = signed();
        if (divisor === 0) throw new ExpressionError("Division by zero.", at);
        value /= divisor;
      } else if (list[next].kind === "name" || peek("(")) value *= power();
      else return value;
    }
  }

  // A chain of signs may be as long as the text, so it is counted, not nested.
  function signed() {
    let sign = 1;
    for (;;) {
      if (take("-")) sign = -sign;
      else if (!take("+")) break;
    }
    const value = power();
    return sign < 0 ? -value : value;
  }

  function power() {
    const bases = [postfix()];
    const negative = [];
    while (take("^")) {
      let sign = 1;
      while (peek("-") || peek("+"))
        if (list[next++].value === "-") sign = -sign;
      negative.push(sign < 0);
      bases.push(postfix());
    }
    // From the right: 2^3^2 is 2^9.
    let value = bases.pop();
    while (bases.length > 0) {
      if (negative.pop()) value = -value;
      value = bases.pop() ** value;
    }
    return value;
  }

  function postfix() {
    let value = primary();
    for (;;) {
      if (take("%")) value /= 100;
      else if (peek("!")) value = factorial(value, list[next++].at);
      else return value;
    }
  }

  function primary() {
    const token = list[next];
    if (token.kind === "number") {
      next += 1;
      return token.value;
    }
    if (take("(")) {
      const value = sum();
      if (!take(")")) throw expected("“)”");
      return value;
    }
    if (token.kind !== "name") throw expected("a number");
    next += 1;
    if (token.value === "ans") return ans;
    if (Object.hasOwn(CONSTANTS, token.value)) return CONSTANTS[token.value];
    if (!Object.hasOwn(FUNCTIONS, token.value)) {
      throw new ExpressionError(`“${token.value}” is not supported.`, token.at);
    }
    if (!take("(")) throw expected(`“(” after ${token.value}`);
    const values = [sum()];
    while (take(",")) values.push(sum());
    if (!take(")")) throw expected("“)”");
    if (values.length > 1 && !ONE_OR_MORE.has(token.value)) {
      throw new ExpressionError(`${token.value} takes one value.`, token.at);
    }
    return FUNCTIONS[token.value](...values);
  }

  const value = sum();
  if (list[next].kind !== "end") throw expected("an operator");
  if (Number.isNaN(value)) {
    throw new ExpressionError("This has no real result.", 0);
  }
  if (!Number.isFinite(value)) {
    throw new ExpressionError("The result is too large.", 0);
  }
  return value;
}

function factorial(value, at) {
  if (!Number.isInteger(value) || value < 0 || value > 170) {
    const message = "Factorials are supported for whole numbers from 0 to 170.";
    throw new ExpressionError(message, at);
  }
  let product = 1;
  for (let factor = 2; factor <= value; factor += 1) product *= factor;
  return product;
}

/** As many digits as are certain: 0.1 + 0.2 is 0.3. */
export function format(value) {
  const rounded = Number(value.toPrecision(13));
  return String(Object.is(rounded, -0) ? 0 : rounded).replace("-", "−");
}
