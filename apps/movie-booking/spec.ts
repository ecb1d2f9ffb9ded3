// What is on the screen, as people see it drawn and agents read it.

export const STAGES = [
  "movie",
  "theater",
  "date",
  "time",
  "seat",
  "ticket",
  "confirm",
] as const;
export type Stage = (typeof STAGES)[number];

export type Component =
  "buttonGroup" | "calendar" | "seatMap" | "counter" | "summary";

export type Field = string | number | boolean;

/** Something to choose, with fields to filter and sort by. */
export interface Item {
  id: string;
  isDisabled?: boolean;
  [field: string]: Field | undefined;
}

export const OPERATORS = [
  "eq",
  "neq",
  "contains",
  "gt",
  "lt",
  "gte",
  "lte",
  "in",
] as const;
export type Operator = (typeof OPERATORS)[number];

export const STYLES = ["border", "glow", "badge"] as const;
export type Style = (typeof STYLES)[number];

export const KINDS = ["filter", "sort", "highlight", "augment"] as const;
export type Kind = (typeof KINDS)[number];

export interface Filter {
  field: string;
  operator: Operator;
  value: unknown;
}

/** What an agent did to how a stage is shown; it changes nothing that is chosen. */
export interface Modification {
  /** All of them hold; one for each field. */
  filter?: Filter[];
  sort?: { field: string; order: "asc" | "desc" };
  highlight?: { itemIds: string[]; style: Style };
  augment?: { itemId: string; value: string }[];
}

export interface VisibleItem {
  id: string;
  value: string;
  isDisabled?: boolean;
}

export interface Booked {
  bookingId: string;
  code: string;
  seats: string[];
  totalCents: number;
  cancelled?: boolean;
}

/** Something that is chosen: what tools take, and what the person reads. */
export interface Named {
  id: string;
  value: string;
}

export interface Counted {
  item: Named;
  count: number;
}

/** What has been chosen so far on all stages, and what became of it. */
export interface BookingState {
  status: "open" | "booked" | "cancelled";
  movie?: Named;
  theater?: Named;
  date?: Named;
  time?: Named;
  seats?: Named[];
  tickets?: Counted[];
  totalCents?: number;
  /** Since it is booked. */
  bookingId?: string;
  code?: string;
}

export interface UiSpec {
  stage: Stage;
  title: string;
  description?: string;
  visibleItems: VisibleItem[];
  state: {
    selected?: Named;
    selectedList?: Named[];
    highlighted?: Named[];
    /** All ticket types, including those with a count of zero. */
    quantities?: Counted[];
    booking: BookingState;
  };
  items: Item[];
  modification: Modification;
  display: { valueField: string; component: Component };
  meta: {
    step: number;
    steps: number;
    /** A summary of the choices on earlier stages. */
    chosen: Partial<Record<Stage, string>>;
    canGoOn: boolean;
    /** What is missing before `next` can work. */
    missing?: string;
    seatsHeldUntil?: string;
  };
}

interface Look {
  /** In the row of steps. */
  name: string;
  title: string;
  description: string;
  valueField: string;
  component: Component;
}

export const LOOKS: Record<Stage, Look> = {
  movie: {
    name: "Movie",
    title: "Which movie?",
    description: "Choose one, then continue.",
    valueField: "title",
    component: "buttonGroup",
  },
  theater: {
    name: "Theater",
    title: "Which theater?",
    description: "The nearest come first.",
    valueField: "name",
    component: "buttonGroup",
  },
  date: {
    name: "Day",
    title: "Which day?",
    description: "Days with showings can be chosen.",
    valueField: "label",
    component: "calendar",
  },
  time: {
    name: "Time",
    title: "What time?",
    description: "Sold out showings cannot be chosen.",
    valueField: "time",
    component: "buttonGroup",
  },
  seat: {
    name: "Seats",
    title: "Which seats?",
    description:
      "Select a seat again to deselect it. Row A is nearest to the screen.",
    valueField: "label",
    component: "seatMap",
  },
  ticket: {
    name: "Tickets",
    title: "Which tickets?",
    description: "One for each seat.",
    valueField: "name",
    component: "counter",
  },
  confirm: {
    name: "Book",
    title: "Is everything correct?",
    description: "Continuing books the seats.",
    valueField: "value",
    component: "summary",
  },
};
