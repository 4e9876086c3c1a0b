package codecraft

import (
	"fmt"

	"moonfarm/sim/texts"
)

// Validate fails if no game can have the rules.
func (r *Rules) Validate() error {
	if o, found := texts.Check(r.Table()); found {
		return fmt.Errorf("%s is %s, expected %s to %s", o.Key, o.Found, o.Least, o.Most)
	}
	if err := r.Start.validate(); err != nil {
		return fmt.Errorf("start: %w", err)
	}
	for _, t := range r.Start.All() {
		if startCorner[t].size == 0 {
			return fmt.Errorf("start: no player can start with a %s", t)
		}
	}
	for t := range r.Types {
		if err := r.Types[t].validate(Type(t)); err != nil {
			return fmt.Errorf("%s.%w", Type(t), err)
		}
	}
	return nil
}

// validate checks the properties of type t, whose numbers are within their bounds.
func (p *Properties) validate(t Type) error {
	if err := p.Builds.validate(); err != nil {
		return fmt.Errorf("build.options: %w", err)
	}
	if err := p.Repairs.validate(); err != nil {
		return fmt.Errorf("repair.valid_targets: %w", err)
	}
	switch {
	case p.Collects && !p.CanAttack:
		return fmt.Errorf("attack.collect_resource is true, but there is no attack")
	case t == Resource && (p.CanMove || p.CanBuild || p.CanAttack || p.CanRepair):
		return fmt.Errorf("can_move, build, attack and repair must be false: a resource has no owner")
	case p.Builds.Set().Has(Resource) || p.Repairs.Set().Has(Resource):
		return fmt.Errorf("build.options and repair.valid_targets cannot have Resource: it has no owner")
	}
	return nil
}

// validate fails if the list has an unknown or a repeated type. The caller has checked the
// length of the list.
func (l *TypeList) validate() error {
	seen := TypeSet(0)
	for _, t := range l.All() {
		if t >= Types {
			return fmt.Errorf("%d is no type, expected 0 to %d", t, Types-1)
		}
		if seen.Has(t) {
			return fmt.Errorf("%s appears twice", t)
		}
		seen |= 1 << t
	}
	return nil
}
